// What the tests and the runner share: the oracle models, and llama.cpp through the test helper.
//
// The helper stands for whatever binding of llama.cpp a user has: it makes models and contexts of its own, and this suite
// hands their pointers to the package under test.

import LlamaSpeculative

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A variable that pytest sets.
public func variable(_ name: String) -> String {
    guard let value = getenv(name) else { fatalError("\(name) is not set: run these tests with pytest") }
    return String(cString: value)
}

/// The library under test.
public let library: Library = {
    do {
        return try Library.load()
    } catch {
        fatalError("\(error)")
    }
}()

/// Path of an oracle model.
public func model(_ name: String) -> String { "\(variable("LLAMA_SPECULATIVE_MODELS"))/\(name).gguf" }

/// `n` tokens along the oracle's cycle from `start`.
public func along(_ start: Int32, _ n: Int) -> [Int32] {
    let next = variable("LLAMA_SPECULATIVE_NEXT").split(separator: " ").map { Int32($0)! }
    return Array(sequence(first: start) { next[Int($0)] }.prefix(n))
}

/// A prompt, and the `n` tokens with which every oracle target goes on.
public func promptAndAnswer(_ length: Int, _ n: Int) -> (prompt: [Int32], answer: [Int32]) {
    let all = along(10, length + n)
    return (Array(all.prefix(length)), Array(all.suffix(n)))
}

/// Options of a context, in the helper's order.
public struct ContextOptions {
    public var nCtx: Int32 = 512
    public var nBatch: Int32 = 64
    public var nUbatch: Int32 = 64
    public var nSeqMax: Int32 = 1
    public var nRsSeq: Int32 = 0

    public init() {}

    var raw: [Int32] { [nCtx, nBatch, nUbatch, nSeqMax, nRsSeq, 0, 1, 1, 0, 0, 0, -1] }
}

/// The functions of the helper, and those of libllama behind it.
struct Helper: @unchecked Sendable {
    static let shared = Helper()

    let modelLoad: @convention(c) (UnsafePointer<CChar>, Int32) -> OpaquePointer?
    let modelFree: @convention(c) (OpaquePointer) -> Void
    let contextNew: @convention(c) (OpaquePointer, UnsafePointer<Int32>) -> OpaquePointer?
    let contextFree: @convention(c) (OpaquePointer) -> Void
    let vocabulary: @convention(c) (OpaquePointer) -> Int32
    let decode:
        @convention(c) (
            OpaquePointer, Int32, UnsafePointer<Int32>, UnsafePointer<Int32>, UnsafePointer<Int32>, UnsafePointer<Int8>
        ) -> Int32
    let logits: @convention(c) (OpaquePointer, Int32) -> UnsafePointer<Float>
    let remove: @convention(c) (OpaquePointer, Int32, Int32, Int32) -> Int32
    let chain: @convention(c) () -> OpaquePointer
    let addRogue: @convention(c) (OpaquePointer, Int32, Int32) -> Void
    let samplerFree: @convention(c) (OpaquePointer) -> Void

    private init() {
        guard let module = dlopen(variable("LLAMA_SPECULATIVE_HELPER"), RTLD_NOW) else { fatalError("no helper") }
        func find<Function>(_ name: String) -> Function {
            guard let address = dlsym(module, name) else { fatalError("the helper has no \(name)") }
            return unsafeBitCast(address, to: Function.self)
        }
        let start: @convention(c) () -> Void = find("helper_start")
        start()
        modelLoad = find("helper_model_load")
        modelFree = find("llama_model_free")
        contextNew = find("helper_context_new")
        contextFree = find("llama_free")
        vocabulary = find("helper_n_vocab")
        decode = find("helper_decode")
        logits = find("helper_logits")
        remove = find("helper_seq_rm")
        chain = find("helper_chain")
        addRogue = find("helper_add_rogue")
        samplerFree = find("llama_sampler_free")
    }
}

/// A model of the user's own.
public final class Model {
    let pointer: OpaquePointer

    public init(_ path: String, loadMTP: Bool = false) {
        guard let pointer = Helper.shared.modelLoad(path, loadMTP ? 1 : 0) else { fatalError("\(path) does not load") }
        self.pointer = pointer
    }

    deinit {
        Helper.shared.modelFree(pointer)
    }

    /// As the package under test takes it.
    public var lent: LlamaModel { LlamaModel(pointer, owner: self) }
}

/// A context of the user's own.
public final class Context {
    public nonisolated(unsafe) static var alive = 0

    let pointer: OpaquePointer
    let model: Model

    public init(_ model: Model, _ options: ContextOptions = ContextOptions()) {
        guard let pointer = Helper.shared.contextNew(model.pointer, options.raw) else { fatalError("no context") }
        self.pointer = pointer
        self.model = model
        Self.alive += 1
    }

    deinit {
        Helper.shared.contextFree(pointer)
        Self.alive -= 1
    }

    /// As the package under test takes it.
    public var lent: LlamaContext { LlamaContext(pointer, owner: self) }

    /// Evaluates tokens of sequence 0 from `pos0` on, all with an output.
    public func decode(_ tokens: [Int32], at pos0: Int32) {
        let positions = tokens.indices.map { pos0 + Int32($0) }
        let zeros = [Int32](repeating: 0, count: tokens.count)
        let ones = [Int8](repeating: 1, count: tokens.count)
        let status = Helper.shared.decode(pointer, Int32(tokens.count), tokens, positions, zeros, ones)
        precondition(status == 0, "llama_decode failed")
    }

    /// The target's token after token `index` of the last batch.
    public func greedy(_ index: Int) -> Int32 {
        let row = UnsafeBufferPointer(
            start: Helper.shared.logits(pointer, Int32(index)),
            count: Int(Helper.shared.vocabulary(model.pointer))
        )
        return Int32(row.indices.max { row[$0] < row[$1] }!)
    }

    /// Removes sequence 0 from `pos0` on.
    public func remove(from pos0: Int32) {
        _ = Helper.shared.remove(pointer, 0, pos0, -1)
    }
}

/// A sampler of the user's own that throws at its `throwsAt`-th token.
public final class Rogue {
    private let chain: OpaquePointer

    public init(throwsAt: Int32) {
        chain = Helper.shared.chain()
        Helper.shared.addRogue(chain, throwsAt, 1)
    }

    deinit {
        Helper.shared.samplerFree(chain)
    }

    /// As the package under test takes it.
    public var lent: LlamaSampler { LlamaSampler(chain, owner: self) }
}
