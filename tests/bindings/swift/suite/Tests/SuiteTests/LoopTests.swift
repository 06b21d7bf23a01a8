// The loop and the primitives on contexts that the user made, given by pointer.

import LlamaSpeculative
import Suite
import Testing

@Suite struct LoopTests {
    let speculative = Params(strategies: "draft-simple", nDraftMax: 8)

    /// A spec on contexts of the user's own, which nothing but the spec keeps alive.
    func spec(_ options: ContextOptions = ContextOptions()) throws -> Spec {
        let draft = Model(model("draft-llama"))
        let context = Context(Model(model("target-llama")), options)
        let made = try library.draftContextInit(target: context.lent, draftModel: draft.lent, params: speculative)
        return try Spec(library, target: context.lent, draft: made?.get(), params: speculative)
    }

    func rounds(_ spec: Spec, _ n: Int32) throws -> [Int32] {
        var emitted: [Int32] = []
        try spec.seqSetLimits(seqID: 0, nDraftMax: -1, nPredict: n)
        while try spec.decode() == .done { emitted += try spec.acceptedTokens(seqID: 0) }
        return emitted
    }

    @Test("requirements say what the contexts must be like")
    func requirements() throws {
        let draft = Model(model("draft-llama"))
        func needs(_ name: String) throws -> Needs {
            let target = Model(model(name))
            return try library.requirements(targetModel: target.lent, draftModel: draft.lent, params: speculative)
        }
        let attention = try needs("target-llama")
        #expect(attention.needsDraftModel && attention.needsDraftContext && !attention.loadMTP)
        #expect(attention.rollback == .remove && attention.nDraftMax == 8)
        let hybrid = try needs("hybrid-qwen35")
        #expect(hybrid.rollback == .snapshots && hybrid.nRSSeq == 8)
    }

    @Test("a part of a round is kept and the rest taken back everywhere")
    func commit() throws {
        let (prompt, answer) = promptAndAnswer(24, 80)
        let spec = try spec()
        try spec.decode(Batch(token: prompt))
        var emitted: [Int32] = []
        for keep in [1, 2, 3] {
            var whole = 0
            repeat {
                #expect(try spec.decode() == .done)
                let tokens = try spec.acceptedTokens(seqID: 0)
                whole = tokens.count
                emitted += tokens.prefix(keep)
                try spec.commit(seqID: 0, nKeep: Int32(min(keep, whole)))
            } while whole > keep
        }
        emitted += try rounds(spec, 80 - Int32(emitted.count))
        #expect(emitted == answer)
    }

    @Test("a shared prefix is kept and a copy goes on by itself")
    func truncate() throws {
        let (prompt, answer) = promptAndAnswer(24, 40)
        var options = ContextOptions()
        (options.nSeqMax, options.nCtx) = (2, 1024)
        let spec = try spec(options)
        try spec.decode(Batch(token: prompt))
        #expect(try rounds(spec, 40) == answer)
        try spec.seqTruncate(seqID: 0, nTokens: 24)
        #expect(try spec.seqInfo(seqID: 0).nTokens == 24)
        try spec.seqCopy(src: 0, dst: 1)
        #expect(try spec.seqInfo(seqID: 1).nTokens == 24)
        try spec.seqSetLimits(seqID: 1, nDraftMax: -1, nPredict: 0)
        #expect(try rounds(spec, 40) == answer)
        try spec.seqClear(seqID: seqAll)
        #expect(try spec.seqInfo(seqID: 1).state == .needsBegin)
    }

    @Test("a saved state goes on in another spec and a damaged one is refused")
    func state() throws {
        let (prompt, answer) = promptAndAnswer(24, 60)
        let first = try spec()
        try first.decode(Batch(token: prompt))
        var emitted = try rounds(first, 30)
        let saved = try first.stateSave(seqID: 0)
        let second = try spec()
        let cut = thrown {
            try second.stateLoad(seqID: 0, data: Array(saved.prefix(saved.count / 2)))
        }
        #expect(cut.kind == "state" && cut.failure?.sequenceState == .needsBegin)
        #expect(try second.stateLoad(seqID: 0, data: saved) == .done)
        emitted += try rounds(second, 30)
        #expect(emitted == answer)
    }

    @Test("an open round is an error of its own")
    func openRound() throws {
        let spec = try spec()
        try spec.decode(Batch(token: promptAndAnswer(24, 0).prompt))
        try spec.decode()
        #expect(thrown { try spec.stateSave(seqID: 0) }.kind == "roundOpen")
        #expect(thrown { try spec.seqTruncate(seqID: 0, nTokens: 3) }.kind == "roundOpen")
        try spec.commit(seqID: 0, nKeep: 1)
        #expect(try !spec.stateSave(seqID: 0).isEmpty)
    }

    @Test("logits of an accepted token choose it")
    func logits() throws {
        let spec = try spec()
        try spec.decode(Batch(token: promptAndAnswer(24, 0).prompt))
        try spec.decode()
        let tokens = try spec.acceptedTokens(seqID: 0)
        #expect(tokens.count > 1)
        for (index, token) in tokens.enumerated() {
            let logits = try spec.logits(seqID: 0, index: Int32(index))
            #expect(logits.indices.max { logits[$0] < logits[$1] } == Int(token))
        }
        #expect(thrown { try spec.logits(seqID: 0, index: 99) }.kind == "invalidArgument")
    }

    @Test("a second spec on one target is refused while the first lives")
    func secondSpec() throws {
        let context = Context(Model(model("target-llama")))
        let first = try Spec(library, target: context.lent, params: Params())
        let second = thrown { try Spec(library, target: context.lent, params: Params()) }
        #expect(second.kind == "busy" && !second.text.isEmpty)
        first.close()
        _ = try Spec(library, target: context.lent, params: Params())
    }

    @Test("contexts live for as long as what is made on them, whatever is closed first")
    func order() throws {
        let alive = Context.alive
        let (prompt, answer) = promptAndAnswer(24, 20)
        let draft = Model(model("draft-llama"))
        var context: Context? = Context(Model(model("target-llama")))
        var made = try library.draftContextInit(target: context!.lent, draftModel: draft.lent, params: speculative)
        var spec: Spec? = try Spec(library, target: context!.lent, draft: made?.get(), params: speculative)
        made?.close()  // ends after the spec
        #expect(thrown { try made?.get() }.kind == "closed")
        made = nil
        context = nil
        try spec?.decode(Batch(token: prompt))
        #expect(try rounds(spec!, 20) == answer)
        #expect(Context.alive == alive + 1)
        spec = nil
        #expect(Context.alive == alive)
    }

    @Test("arrays of a batch must be of one length")
    func lengths() throws {
        let spec = try spec()
        let error = thrown { try spec.decode(Batch(token: [10, 11], seqID: [0])) }
        #expect(error.text == "seq_id has 1 elements, but token has 2")
    }

    @Test("a sampler that throws is an error and greedy goes on")
    func sampler() throws {
        let (prompt, answer) = promptAndAnswer(24, 20)
        let rogue = Rogue(throwsAt: 3)
        let spec = try spec()
        try spec.seqSetSampler(seqID: 0, sampler: rogue.lent)
        try spec.decode(Batch(token: prompt))
        var outcome = thrown { try spec.decode() }
        while outcome.error == nil { outcome = thrown { try spec.decode() } }
        #expect(outcome.text.contains("the sampler threw on purpose"))
        try spec.seqSetSampler(seqID: 0, sampler: nil)
        try spec.seqClear(seqID: 0)
        try spec.decode(Batch(token: prompt))
        #expect(try rounds(spec, 20) == answer)
    }

    @Test("cancel is seen by the next decode")
    func cancel() throws {
        let (prompt, answer) = promptAndAnswer(24, 20)
        let spec = try spec()
        try spec.decode(Batch(token: prompt))
        try spec.remote.cancel()
        #expect(try spec.decode() == .cancelled)
        #expect(try rounds(spec, 20) == answer)
    }

    @Test("hidden rows have C names")
    func hiddenRows() throws {
        let context = Context(Model(model("mtp-mimo2-1"), loadMTP: true))
        #expect(thrown { try library.hiddenRow(ctx: context.lent, index: 0) }.kind == "callOrder")
        try library.hiddenEnable(ctx: context.lent, mode: .all)
        context.decode([10, 11, 12], at: 0)
        let row = try library.hiddenRow(ctx: context.lent, index: 2)
        #expect(row.count >= 64 && row.contains { $0 != 0 })
    }

    @Test("counters add up by strategy")
    func counters() throws {
        let spec = try spec()
        try spec.decode(Batch(token: promptAndAnswer(24, 0).prompt))
        #expect(try rounds(spec, 64).count == 64)
        let all = try spec.stats(seqID: seqAll)
        let own = try spec.stats(seqID: 0, strategy: "draft-simple")
        #expect(all.nEmitted == 64 && all.nAccepted == own.nAccepted && own.nAccepted > 0)
        #expect(all.acceptanceRate == Double(all.nAccepted) / Double(all.nDrafted))
        #expect(thrown { try spec.stats(seqID: 0, strategy: "draft-simpel") }.kind == "invalidArgument")
        try spec.statsReset()
        #expect(try spec.stats(seqID: seqAll).acceptanceRate == 0)
    }
}
