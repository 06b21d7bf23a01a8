// Loading and checking the library, its log, and the defaults.

import CLlamaSpeculative
import LlamaSpeculative
import Suite
import Synchronization
import Testing

#if canImport(Glibc)
    import Glibc
#endif

@Suite struct LibraryTests {
    @Test("the library says what it was built from")
    func buildInfo() throws {
        let details = try library.buildInfo()
        #expect(details.abiVersion == library.abiVersion())
        #expect(details.llamaCommit.count >= 7)
        #expect(details.backends.contains("CPU"))
        #expect(library.statusName(status: -5) == "ERROR_UNSUPPORTED")
    }

    @Test("a moved field is named although the size is the same")
    func movedField() throws {
        let doctored = variable("LLAMA_SPECULATIVE_DOCTORED")
        let moved = thrown { try Library.open(doctored) }
        #expect(moved.kind == "layout")
        if case .layout(let mismatches) = moved.error {
            #expect(mismatches.map(\.item) == ["counters.n_drafted", "counters.n_accepted"])
        }
        let text = "counters.n_drafted: offset 24, size 8 in this package, offset 32, size 8 in the library"
        #expect(moved.text.contains(text))
    }

    @Test("another library with the same names does no harm")
    func otherLibrary() throws {
        // it is loaded first and offers its symbols to everybody
        #expect(dlopen(variable("LLAMA_SPECULATIVE_DOCTORED"), RTLD_NOW | RTLD_GLOBAL) != nil)
        let library = try Library.open(variable("LLAMA_SPECULATIVE_LIB"))
        #expect(library.statusName(status: 0) == "OK")  // the other one ends the process instead
        let session = try Session(library, params: SessionParams(model: model("target-llama"), nCtx: 64, nThreads: 1))
        #expect(try session.generate([10], params: GenParams(nPredict: 4)).reduce(0) { count, _ in count + 1 } == 4)
    }

    @Test("a library that is not there is an error with its path")
    func missing() throws {
        let missing = thrown { try Library.open("/nowhere/lib.so") }
        #expect(missing.kind == "load" && missing.text.hasPrefix("cannot load /nowhere/lib.so"))
        #expect(missing.text.contains("No such file"))
        let other = thrown { try Library.open(variable("LLAMA_SPECULATIVE_OTHER")) }
        #expect(other.kind == "load" && other.text.hasSuffix("it has no function llama_speculative_abi_version"))
    }

    @Test("defaults are the library's own")
    func defaults() throws {
        let functions = library.functions
        var differing: [String] = []
        func compare<Value: Equatable>(_ name: String, _ ours: Value, _ theirs: Value) {
            if ours != theirs { differing.append(name) }
        }

        let ours = Params()
        var params = llama_speculative_params()
        #expect(functions.paramsInit(&params, MemoryLayout.size(ofValue: params)) == 0)
        compare("n_draft_max", ours.nDraftMax, params.n_draft_max)
        compare("n_draft_min", ours.nDraftMin, params.n_draft_min)
        compare("p_min", ours.pMin, params.p_min)
        compare("ngram_simple_n", ours.ngramSimpleN, params.ngram_simple_n)
        compare("ngram_simple_m", ours.ngramSimpleM, params.ngram_simple_m)
        compare("ngram_map_k_n", ours.ngramMapKN, params.ngram_map_k_n)
        compare("ngram_map_k_m", ours.ngramMapKM, params.ngram_map_k_m)
        compare("ngram_map_k4v_n", ours.ngramMapK4vN, params.ngram_map_k4v_n)
        compare("ngram_map_k4v_m", ours.ngramMapK4vM, params.ngram_map_k4v_m)
        compare("ngram_map_k4v_min_hits", ours.ngramMapK4vMinHits, params.ngram_map_k4v_min_hits)
        compare("ngram_mod_n_match", ours.ngramModNMatch, params.ngram_mod_n_match)
        compare("ngram_mod_n_max", ours.ngramModNMax, params.ngram_mod_n_max)
        compare("ngram_mod_n_min", ours.ngramModNMin, params.ngram_mod_n_min)
        compare("backend_sampling", ours.backendSampling, params.backend_sampling != 0)
        compare("strategies", ours.strategies, String(cString: params.strategies))

        let opening = SessionParams()
        var session = llama_speculative_session_params()
        #expect(functions.sessionParamsInit(&session, MemoryLayout.size(ofValue: session)) == 0)
        compare("n_ctx", opening.nCtx, session.n_ctx)
        compare("n_batch", opening.nBatch, session.n_batch)
        compare("n_ubatch", opening.nUbatch, session.n_ubatch)
        compare("n_seq_max", opening.nSeqMax, session.n_seq_max)
        compare("n_threads", opening.nThreads, session.n_threads)
        compare("n_threads_batch", opening.nThreadsBatch, session.n_threads_batch)
        compare("n_gpu_layers", opening.nGPULayers, session.n_gpu_layers)
        compare("n_gpu_layers_draft", opening.nGPULayersDraft, session.n_gpu_layers_draft)
        compare("seed", opening.seed, session.seed)
        compare("temperature", opening.temperature, session.temperature)
        compare("top_k", opening.topK, session.top_k)
        compare("top_p", opening.topP, session.top_p)
        compare("min_p", opening.minP, session.min_p)
        compare("penalty_last_n", opening.penaltyLastN, session.penalty_last_n)
        compare("penalty_repeat", opening.penaltyRepeat, session.penalty_repeat)
        compare("penalty_freq", opening.penaltyFreq, session.penalty_freq)
        compare("penalty_present", opening.penaltyPresent, session.penalty_present)

        let limits = GenParams()
        var generation = llama_speculative_gen_params()
        #expect(functions.genParamsInit(&generation, MemoryLayout.size(ofValue: generation)) == 0)
        compare("seq_id", limits.seqID, generation.seq_id)
        compare("n_predict", limits.nPredict, generation.n_predict)
        compare("reuse_prefix", limits.reusePrefix, generation.reuse_prefix != 0)
        #expect(differing == [])
    }

    @Test("log lines arrive")
    func log() throws {
        let lines = Lines()
        try library.logSet { level, text in lines.add(level, text) }
        defer { try? library.logSet(nil) }
        _ = try open(params("none"))
        #expect(lines.all.contains { $0.contains("llama") })
    }
}

/// Lines of the log, from any thread.
private final class Lines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func add(_ level: LogLevel, _ text: String) {
        lines.withLock { $0.append("\(level): \(text)") }
    }
}
