// Sessions: streaming, cancelling, callbacks, errors, and what remains when they are gone.

import Dispatch
import LlamaSpeculative
import Suite
import Synchronization
import Testing

#if canImport(Glibc)
    import Glibc
#endif

struct OnPurpose: Error, Equatable {}

func params(_ strategies: String, model name: String = "target-llama") -> SessionParams {
    SessionParams(
        model: model(name),
        speculative: Params(strategies: strategies, nDraftMax: 8),
        nCtx: 256,
        nBatch: 64,
        nUbatch: 64,
        nThreads: 1
    )
}

func drafting() -> SessionParams {
    var drafting = params("draft-simple")
    drafting.modelDraft = model("draft-llama")
    return drafting
}

func open(_ params: SessionParams) throws -> Session { try Session(library, params: params) }

func limit(_ nPredict: Int32) -> GenParams { GenParams(nPredict: nPredict) }

func text(_ session: Session, _ prompt: [Int32], _ params: GenParams) throws -> String {
    try session.generate(prompt, params: params).map { try $0.get().text }.joined()
}

@Suite struct SessionTests {
    let prompt = promptAndAnswer(24, 0).prompt

    @Test("pieces are the target's text with its accepted tokens marked")
    func pieces() throws {
        let (prompt, answer) = promptAndAnswer(24, 64)
        let session = try open(drafting())
        let expected = try text(open(params("none")), prompt, limit(64))
        #expect(try text(session, prompt, limit(64)) == expected)
        #expect(try session.tokenize(expected, addSpecial: false, parseSpecial: false) == answer)

        let again = GenParams(nPredict: 64, reusePrefix: false)
        let marked = try session.generate(prompt, params: again).map { try $0.get().nTokensDraft }.reduce(0, +)
        let result = try session.result()
        #expect(UInt64(marked) == result.nAccepted)
        #expect(result.nEmitted == 64)
        #expect(result.nAccepted > 0 && result.nAccepted < result.nDrafted)
        #expect(result.acceptanceRate == Double(result.nAccepted) / Double(result.nDrafted))
    }

    @Test("the first piece is there before the second is decoded")
    func streams() throws {
        let session = try open(params("none"))
        for result in try session.generate(prompt, params: limit(64)) {
            #expect(try result.get().nTokens == 1)
            #expect(try session.spec().stats(seqID: 0).nRounds == 1)
            break
        }
        #expect(try session.generate(prompt, params: limit(64)).prefix(3).map { try $0.get() }.count == 3)
        #expect(try session.spec().stats(seqID: 0).nRounds == 4)
    }

    @Test("an asynchronous sequence gives the same pieces, one at a time")
    func streamsAsynchronously() async throws {
        let session = try open(drafting())
        let expected = try text(session, prompt, limit(40))
        var found = ""
        var first = true
        let rounds = try session.spec().stats(seqID: 0).nRounds
        for try await piece in session.stream(prompt, params: limit(40)) {
            found += piece.text
            if first { #expect(try session.spec().stats(seqID: 0).nRounds == rounds + 1) }
            first = false
        }
        #expect(found == expected)
        #expect(try session.result().finish == .limit)
    }

    @Test("a cancelled task ends the sequence, and the next answer is whole")
    func cancelledTask() async throws {
        let task = Task { () throws -> (Int32, Finish, Int32) in
            let session = try open(drafting())
            var count: Int32 = 0
            for try await piece in session.stream(promptAndAnswer(24, 0).prompt, params: limit(200)) {
                count += piece.nTokens
                withUnsafeCurrentTask { $0?.cancel() }
            }
            let finish = try session.result().finish
            // the cancellation is over: it does not reach what is begun outside of the task's sequence
            let next = try session.generate(promptAndAnswer(24, 0).prompt, params: limit(20))
            return (count, finish, try next.map { try $0.get().nTokens }.reduce(0, +))
        }
        let (count, finish, next) = try await task.value
        #expect(count > 0 && count < 18)
        #expect(finish == .cancelled)
        #expect(next == 20)
    }

    @Test("a cancellation that comes between two evaluations does not reach the next answer", arguments: [1, 200])
    func lateCancellation(n: Int32) async throws {
        let task = Task { () throws -> (Bool, Int) in
            let session = try open(drafting())
            let prompt = promptAndAnswer(24, 0).prompt
            var iterator = session.stream(prompt, params: limit(n)).makeAsyncIterator()
            _ = try await iterator.next()
            withUnsafeCurrentTask { $0?.cancel() }
            let ended = try await iterator.next() == nil  // or a piece that was ready
            return (ended, try session.generate(prompt, params: limit(5)).map { try $0.get() }.count)
        }
        let (ended, next) = try await task.value
        #expect(ended == (n == 1) && next == 5)
    }

    @Test("errors of a prompt come out of the asynchronous sequence")
    func asynchronousError() async throws {
        let session = try open(params("none"))
        await #expect(throws: SpeculativeError.self) {
            for try await _ in session.stream([10, 1_000_000], params: limit(4)) {}
        }
    }

    @Test("a session goes on after an answer that was left early")
    func leftEarly() throws {
        let (prompt, answer) = promptAndAnswer(24, 32)
        let session = try open(drafting())
        let abandoned = try session.generate(prompt, params: limit(200))
        #expect(try abandoned.prefix(2).map { try $0.get() }.count == 2)
        let whole = try text(session, prompt, limit(32))
        #expect(try session.tokenize(whole, addSpecial: false, parseSpecial: false) == answer)
        #expect(try session.result().finish == .limit)
        #expect(try session.result().nReused == 23)  // all that was evaluated of the prompt
        // the answer that was left is over
        #expect(thrown { try abandoned.next()?.get() }.kind == "closed")
    }

    @Test("cancel from another thread ends the answer and the next one is whole")
    func cancelled() throws {
        let session = try open(drafting())
        let pieces = try session.generate(prompt, params: limit(200))
        #expect(try pieces.next()?.get() != nil)
        let remote = session.remote
        let done = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            try? remote.cancel()
            done.signal()
        }
        done.wait()
        let rest = try pieces.map { try $0.get().nTokens }.reduce(0, +)
        #expect(rest < 9)  // no more than were ready
        #expect(pieces.outcome == .cancelled)
        #expect(try session.result().finish == .cancelled)
        #expect(try session.generate(prompt, params: limit(20)).map { try $0.get().nTokens }.reduce(0, +) == 20)
    }

    @Test("a closed session is an error in all its parts, and closing it again is none")
    func closed() throws {
        let session = try open(drafting())
        let (remote, spec, handles) = (session.remote, try session.spec(), try session.handles())
        let pieces = try session.generate(prompt, params: limit(20))
        session.close()
        session.close()
        #expect(thrown { try session.result() }.kind == "closed")
        #expect(thrown { try remote.cancel() }.kind == "closed")
        #expect(thrown { try spec.stats(seqID: 0) }.kind == "closed")
        #expect(thrown { try library.hiddenRow(ctx: handles.ctxTgt, index: 0) }.kind == "closed")
        #expect(thrown { try pieces.next()?.get() }.kind == "closed")
        #expect(thrown { try session.result() }.text == "the Session is closed")
    }

    @Test("a session that is closed inside of its own callback ends after the call")
    func closedInside() throws {
        let session = try open(params("none"))
        var count = 0
        try session.generate(prompt, params: limit(5)) { _ in
            count += 1
            session.close()
            return .proceed
        }
        #expect(count == 5)
        #expect(thrown { try session.result() }.kind == "closed")
    }

    @Test("remotes may cancel while the session closes")
    func cancelsWhileClosing() throws {
        for _ in 0..<20 {
            var session: Session? = try open(params("none"))
            let remote = session!.remote
            let group = DispatchGroup()
            for _ in 0..<2 {
                DispatchQueue.global().async(group: group) {
                    for _ in 0..<2000 where (try? remote.cancel()) != nil {}
                }
            }
            // whatever the cancels hit, nothing else may go wrong
            for piece in try session!.generate(prompt, params: limit(8)) { _ = try piece.get() }
            session = nil
            group.wait()
        }
    }

    @Test("a closure gets the pieces and may break off")
    func closure() throws {
        let session = try open(params("none"))
        var count: Int32 = 0
        let broken = try session.generate(prompt, params: limit(64)) { piece in
            count += piece.nTokens
            return count == 5 ? .cancel : .proceed
        }
        #expect(broken.finish == .cancelled && count == 5)
        let whole = try session.generate(prompt, params: limit(64)) { _ in .proceed }
        #expect(whole.finish == .limit && whole.nEmitted == 64)
    }

    @Test("an error in a closure arrives at the caller and the session is intact")
    func closureThrows() throws {
        let session = try open(drafting())
        let error = thrown {
            try session.generate(prompt, params: limit(64)) { _ in throw OnPurpose() }
        }
        #expect(error.inner is OnPurpose)
        #expect(try session.generate(prompt, params: limit(20)).map { try $0.get().nTokens }.reduce(0, +) == 20)
    }

    @Test("progress is reported and may stop the opening")
    func progress() throws {
        var seen: [Float] = []
        var reporting = params("none")
        reporting.progress = { progress in
            seen.append(progress)
            return .proceed
        }
        _ = try open(reporting)
        #expect(!seen.isEmpty && seen.allSatisfy { (0...1).contains($0) })

        reporting.progress = { _ in .cancel }
        let stopped = thrown { try open(reporting) }
        #expect(stopped.kind == "stopped" && stopped.text.hasSuffix("cancelled"))
        reporting.progress = { _ in throw OnPurpose() }
        #expect(thrown { try open(reporting) }.inner is OnPurpose)
    }

    @Test("each refusal has its own error with status and message")
    func refusals() throws {
        func refused(_ strategies: String = "none", _ change: (inout SessionParams) -> Void = { _ in }) -> Thrown {
            var changed = params(strategies)
            change(&changed)
            return thrown { try open(changed) }
        }
        let vocabulary = refused("draft-simple") { $0.modelDraft = model("draft-llama-bigvocab") }
        #expect(vocabulary.kind == "unsupported" && vocabulary.text.contains("vocabulary"))
        let missing = refused { $0.model = "nowhere" }
        #expect(missing.kind == "model" && missing.failure?.status == -7)
        #expect(refused("draft-simpel").kind == "invalidArgument")
        #expect(refused { $0.grammar = "root ::= (" }.kind == "sampler")
        #expect(refused { $0.device = "a\0b" }.text == "device holds a NUL character")

        let session = try open(params("none"))
        let early = thrown { try session.result() }
        #expect(early.kind == "callOrder" && early.text.contains("session_start"))
        #expect(early.failure?.function == "session_result" && early.failure?.status == -3)
        let messages = [ChatMessage(role: "user", content: "hello")]
        #expect(thrown { try session.chatApply(messages) }.kind == "unsupported")
    }

    @Test("an error says which sequence it left and how")
    func sequenceState() throws {
        let session = try open(params("none"))
        let error = thrown { try session.generate([10, 1_000_000], params: limit(4)) }
        #expect(error.failure?.sequence == 0 && error.failure?.sequenceState == .needsBegin)

        _ = try text(session, prompt, limit(4))
        let spec = try session.spec()
        let early = thrown { try spec.commit(seqID: 0, nKeep: 1) }
        #expect(early.failure?.sequence == 0 && early.failure?.sequenceState == .ready)
    }

    @Test("stop strings and seeds go through")
    func stopsAndSeeds() throws {
        let session = try open(drafting())
        let whole = try text(session, prompt, limit(30))
        let stop = String(whole.dropFirst(9).prefix(3))
        let cut = try text(session, prompt, GenParams(stops: ["never", stop], nPredict: 30))
        #expect(whole.hasPrefix(cut + stop))
        #expect(try session.result().finish == .stop && session.result().stopIndex == 1)

        func soft(_ seed: UInt32) throws -> String {
            var params = params("none", model: "target-llama-soft")
            (params.temperature, params.topK, params.seed) = (2, 0, seed)
            return try text(open(params), prompt, limit(40))
        }
        #expect(try soft(1) == soft(1))
        #expect(try soft(1) != soft(2))
    }

    @Test("sessions on two threads do not meet")
    func twoThreads() throws {
        let (prompt, answer) = promptAndAnswer(24, 64)
        let wrong = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 2) { _ in
            do {
                for _ in 0..<5 {
                    let session = try open(drafting())
                    let found = try text(session, prompt, limit(64))
                    let tokens = try session.tokenize(found, addSpecial: false, parseSpecial: false)
                    if tokens != answer { wrong.withLock { $0.append(found) } }
                }
            } catch {
                wrong.withLock { $0.append("\(error)") }
            }
        }
        #expect(wrong.withLock { $0 } == [])
    }

    @Test("a thousand sessions leave no memory behind")
    func memory() throws {
        var small = drafting()
        (small.nCtx, small.nBatch, small.nUbatch) = (32, 16, 16)
        let prompt = promptAndAnswer(4, 0).prompt
        func cycles(_ n: Int) throws {
            for _ in 0..<n { _ = try text(open(small), prompt, limit(4)) }
        }
        try cycles(200)
        let before = residentPages()
        try cycles(1000)
        let grown = residentPages() - before
        #expect(grown < 1024)  // a byte lost per kilobyte of context would be more
    }
}

/// Resident memory in pages.
private func residentPages() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var (size, resident) = (0, 0)
    _ = withUnsafeMutablePointer(to: &size) { size in
        withUnsafeMutablePointer(to: &resident) { resident in
            withVaList([size, resident]) { vfscanf(file, "%ld %ld", $0) }
        }
    }
    return resident
}
