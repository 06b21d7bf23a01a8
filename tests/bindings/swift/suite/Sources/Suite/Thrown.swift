// What a call of the package under test throws, in a form that one expectation can look at.

import LlamaSpeculative

/// An error, and the name of its case; `nothing` where a call did not throw.
public struct Thrown {
    public let kind: String
    public let error: SpeculativeError?

    public var failure: Failure? { error?.failure }
    public var text: String { error?.description ?? "" }

    /// What a callback threw.
    public var inner: (any Error)? {
        guard case .callback(let inner) = error else { return nil }
        return inner
    }
}

/// Runs a call for the error that it throws.
public func thrown<Value>(_ body: () throws -> Value) -> Thrown {
    do {
        _ = try body()
        return Thrown(kind: "nothing", error: nil)
    } catch {
        let kind = Mirror(reflecting: error).children.first?.label ?? "\(error)"
        return Thrown(kind: kind, error: error as? SpeculativeError)
    }
}
