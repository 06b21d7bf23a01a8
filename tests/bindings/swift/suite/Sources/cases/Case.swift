// One shared case, and what this package does with it.

import LlamaSpeculative
import Suite

/// Whole numbers among the params.
private let numbers: [String: WritableKeyPath<Params, Int32> & Sendable] = [
    "n_draft_max": \.nDraftMax, "n_draft_min": \.nDraftMin, "ngram_simple_n": \.ngramSimpleN,
    "ngram_simple_m": \.ngramSimpleM,
    "ngram_map_k_n": \.ngramMapKN, "ngram_map_k_m": \.ngramMapKM, "ngram_map_k4v_n": \.ngramMapK4vN,
    "ngram_map_k4v_m": \.ngramMapK4vM, "ngram_map_k4v_min_hits": \.ngramMapK4vMinHits,
    "ngram_mod_n_match": \.ngramModNMatch,
    "ngram_mod_n_max": \.ngramModNMax, "ngram_mod_n_min": \.ngramModNMin,
]

struct Case {
    var name = ""
    var layer = ""
    var target = ""
    var draft: String?
    var loadMTP = false
    var sequences: Int32 = 1
    var context = ContextOptions()
    var params = Params()
    var nPredict: Int32 = 0
    var stops: [String] = []
    var prompt: [Int32] = []

    /// Takes one line; true at the end of the case.
    mutating func take(_ line: String) -> Bool {
        let words = line.split(separator: " ").map(String.init)
        let rest = String(line.dropFirst(words[0].count + 1))
        switch words[0] {
        case "case": (name, layer) = (words[1], words[2])
        case "target": target = rest
        case "draft": draft = rest
        case "load_mtp": loadMTP = rest == "1"
        case "sequences": sequences = Int32(rest)!
        case "context": set(context: words[1], Int32(words[2])!)
        case "params": set(params: words[1], words[2])
        case "n_predict": nPredict = Int32(rest)!
        case "stop": stops.append(text(ofHex: rest))
        case "prompt": prompt = words.dropFirst().map { Int32($0)! }
        case "end": return true
        default: fatalError("\(name): this runner does not know \(words[0])")
        }
        return false
    }

    mutating func set(context key: String, _ value: Int32) {
        switch key {
        case "n_ctx": context.nCtx = value
        case "n_batch": context.nBatch = value
        case "n_ubatch": context.nUbatch = value
        default: fatalError("\(name): this runner does not know context \(key)")
        }
    }

    mutating func set(params key: String, _ value: String) {
        switch key {
        case "strategies": params.strategies = value
        case "p_min": params.pMin = Float(value)!
        default:
            guard let path = numbers[key] else { fatalError("\(name): this runner does not know params \(key)") }
            params[keyPath: path] = Int32(value)!
        }
    }

    func run() throws(SpeculativeError) -> [String] {
        switch layer {
        case "session": try session()
        case "loop": try rounds()
        case "primitives": try primitives()
        default: fatalError("\(name): this runner does not know the layer \(layer)")
        }
    }

    func session() throws(SpeculativeError) -> [String] {
        let session = try Session(
            library,
            params: SessionParams(
                model: target,
                modelDraft: draft,
                speculative: params,
                nCtx: context.nCtx,
                nBatch: context.nBatch,
                nUbatch: context.nUbatch,
                nSeqMax: sequences,
                nThreads: 1
            )
        )
        var bytes: [UInt8] = []
        let clock = ContinuousClock()
        let start = clock.now
        for piece in try session.generate(prompt, params: GenParams(stops: stops, nPredict: nPredict)) {
            bytes += try piece.get().text.utf8
        }
        let seconds = (clock.now - start) / .seconds(1)
        let result = try session.result()
        return [
            "text \(hex(bytes))", "seconds \(seconds)", "drafted 0 \(result.nDrafted)",
            "accepted 0 \(result.nAccepted)",
            "finish 0 \(specName(result.finish))",
        ]
    }

    /// Contexts of the user's own, and a spec on them.
    func open() throws(SpeculativeError) -> (Context, Spec) {
        let model = Model(target, loadMTP: loadMTP)
        let draftModel = draft.map { Model($0) }?.lent
        let needs = try library.requirements(targetModel: model.lent, draftModel: draftModel, params: params)
        var options = context
        options.nCtx *= sequences
        options.nSeqMax = sequences
        options.nRsSeq = needs.nRSSeq
        let target = Context(model, options)
        let made = try library.draftContextInit(target: target.lent, draftModel: draftModel, params: params)
        return (target, try Spec(library, target: target.lent, draft: made?.get(), params: params))
    }

    func rounds() throws(SpeculativeError) -> [String] {
        let (_, spec) = try open()
        for seq in 0..<sequences {
            try spec.seqSetLimits(seqID: seq, nDraftMax: -1, nPredict: nPredict)
            try spec.decode(Batch(token: prompt, seqID: [Int32](repeating: seq, count: prompt.count)))
        }
        var emitted = [[Int32]](repeating: [], count: Int(sequences))
        while try spec.decode() == .done {
            for seq in 0..<sequences { emitted[Int(seq)] += try spec.acceptedTokens(seqID: seq) }
        }
        var lines: [String] = []
        for seq in 0..<sequences {
            let stats = try spec.stats(seqID: seq)
            let finish = try spec.seqInfo(seqID: seq).finish
            lines += [
                "tokens \(seq)\(listed(emitted[Int(seq)]))", "drafted \(seq) \(stats.nDrafted)",
                "accepted \(seq) \(stats.nAccepted)", "finish \(seq) \(specName(finish))",
            ]
        }
        return lines
    }

    func primitives() throws(SpeculativeError) -> [String] {
        let (target, spec) = try open()
        let evaluated = Array(prompt.dropLast())
        // the target evaluates all but the last token, in chunks that the strategies are shown
        var pos0: Int32 = 0
        for start in stride(from: 0, to: evaluated.count, by: Int(context.nBatch)) {
            let end = min(start + Int(context.nBatch), evaluated.count)
            pos0 = try decodeAndShow(target, spec, Array(evaluated[start..<end]), pos0)
        }
        try spec.begin(seqID: 0, tokens: evaluated)
        var last = prompt.last!
        var emitted: [Int32] = []
        var (drafted, accepted) = (0, 0)
        while emitted.count < nPredict {
            try spec.draftRequest(seqID: 0, pos0: pos0, idLast: last, nMax: nPredict - Int32(emitted.count) - 1)
            try spec.draft()
            let draft = try spec.draftTokens(seqID: 0)
            _ = try decodeAndShow(target, spec, [last] + draft, pos0)
            var agreed = 0
            while agreed < draft.count && target.greedy(agreed) == draft[agreed] { agreed += 1 }
            last = target.greedy(agreed)
            emitted += draft.prefix(agreed) + [last]
            try spec.accept(seqID: 0, nAccepted: Int32(agreed))
            pos0 += 1 + Int32(agreed)
            target.remove(from: pos0)
            drafted += draft.count
            accepted += agreed
        }
        return ["tokens 0\(listed(emitted))", "drafted 0 \(drafted)", "accepted 0 \(accepted)"]
    }
}

/// Evaluates tokens, shows them to the strategies, and returns the position behind them.
func decodeAndShow(_ target: Context, _ spec: Spec, _ tokens: [Int32], _ pos0: Int32) throws(SpeculativeError) -> Int32
{
    target.decode(tokens, at: pos0)
    let positions = tokens.indices.map { pos0 + Int32($0) }
    try spec.process(Batch(token: tokens, pos: positions, output: [Int8](repeating: 1, count: tokens.count)))
    return pos0 + Int32(tokens.count)
}

func listed(_ tokens: [Int32]) -> String { tokens.map { " \($0)" }.joined() }

func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

func text(ofHex hex: String) -> String {
    let digits = hex.utf8.map { UInt8(String(UnicodeScalar($0)), radix: 16)! }
    let bytes = stride(from: 0, to: digits.count, by: 2).map { digits[$0] * 16 + digits[$0 + 1] }
    return String(decoding: bytes, as: UTF8.self)
}

/// `contextFull` -> `CONTEXT_FULL`: the name of an enum value in the spec.
func specName(_ value: some Any) -> String {
    "\(value)".map { $0.isUppercase ? "_\($0)" : $0.uppercased() }.joined()
}
