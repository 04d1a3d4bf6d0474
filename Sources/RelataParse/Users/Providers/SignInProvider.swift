import RelataCore

/// Another service that says who somebody is. Users sign in by what they have of it, in `authData`.
///
/// ```swift
/// var options = ParseService.Options()
/// options.signIn = [
///     .apple(clientIDs: ["org.example.library"]),
///     .google(clientIDs: ["123-abc.apps.googleusercontent.com"]),
///     .custom("forum") { authData in try await forum.member(ofToken: authData["token"]?.string) },
/// ]
/// ```
///
/// A user is known by the name of the service and the id that the service has for it: nothing else, such as an address,
/// makes two accounts one.
public struct SignInProvider: Sendable {
    /// The name that `authData` has it by: `apple`.
    public let name: String
    /// Tells who somebody is.
    private let verify: @Sendable (JSONObject) async throws -> String
    /// Says what can't be, before anybody signs in.
    private let problem: @Sendable () -> String?

    /// A service.
    ///
    /// - Parameters:
    ///   - name: The name that `authData` has it by: letters, digits and `_`, and a letter first.
    ///   - problem: Says what is wrong with how it is set up; `nil` where nothing is.
    ///   - verify: Gets what a client sent for that name, and returns the id that the service has for whoever sent it, as the
    ///     service itself vouches: never one that the client only claims. An id that the client gives must be the same, which
    ///     is checked. Throws ``SignInError`` where the service doesn't vouch for it, or can't be asked.
    public init(
        _ name: String, problem: @escaping @Sendable () -> String? = { nil },
        verify: @escaping @Sendable (_ authData: JSONObject) async throws -> String
    ) {
        self.name = name
        self.verify = verify
        self.problem = problem
    }

    /// A service that is asked by a closure.
    ///
    /// - Parameters:
    ///   - name: The name that `authData` has it by: letters, digits and `_`, and a letter first.
    ///   - verify: Gets what a client sent for that name, and returns the id that the service has for whoever sent it.
    public static func custom(
        _ name: String, verify: @escaping @Sendable (_ authData: JSONObject) async throws -> String
    ) -> SignInProvider { SignInProvider(name, verify: verify) }

    /// How long an id may be, in bytes.
    static let maximumID = 256

    /// Checks what can't be.
    ///
    /// - Throws: ``RelataError`` that says what it is.
    public static func check(_ providers: [SignInProvider]) throws(RelataError) {
        var names: Set<String> = []
        for provider in providers {
            let name = provider.name
            guard ParseNames.canBeField(name), name != UserFields.anonymous else {
                throw .invalidUse(
                    "signIn: no provider can be called \(name): it has letters, digits and _, a letter first, and another name than \(UserFields.anonymous)"
                )
            }
            guard names.insert(name).inserted else {
                throw .invalidUse("signIn: two providers are called \(name): give one of them another name")
            }
            if let problem = provider.problem() { throw .invalidUse("signIn: \(name): \(problem)") }
        }
    }

    /// Who somebody is, as the service vouches.
    ///
    /// - Parameter claimed: The id that the client gives; `nil` where it gives none.
    /// - Throws: ``ParseError`` 101 where it doesn't; 124 where it can't be asked; ``FailedSignIn`` where that went wrong in
    ///   a way that isn't told to clients.
    func id(by authData: JSONObject, claimed: String?) async throws -> String {
        let id: String
        do {
            id = try await verify(authData)
        } catch let error as SignInError where !error.isTemporary {
            throw ParseError(.objectNotFound, "\(name): \(error.description)")
        } catch let error as ParseError {
            throw error
        } catch {
            if error is CancellationError || Task.isCancelled { throw CancellationError() }
            throw FailedSignIn(provider: name, error: error)
        }
        guard (1...Self.maximumID).contains(id.utf8.count), !id.utf8.contains(0) else {
            throw FailedSignIn(
                provider: name, error: SignInError("an id has 1 to \(Self.maximumID) bytes, and none of them is 0"))
        }
        guard claimed?.hasSameBytes(as: id) ?? true else {
            throw ParseError(.objectNotFound, "\(name): the id isn't that of the one who signs in")
        }
        return id
    }
}

/// Why somebody can't sign in by another service.
public struct SignInError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, for people. Clients are told, unless it is temporary: then the log has it.
    public let description: String
    /// Whether the service couldn't be asked, so that the same may be right later.
    public let isTemporary: Bool

    /// An error.
    public init(_ description: String, isTemporary: Bool = false) {
        self.description = description
        self.isTemporary = isTemporary
    }
}

/// What went wrong while a service was asked. The log has it: clients are told that it went wrong.
struct FailedSignIn: Error, CustomStringConvertible {
    let provider: String
    let error: any Error

    var description: String { "signing in by \(provider) failed: \(error)" }

    /// What clients are told.
    var parseError: ParseError {
        if (error as? SignInError)?.isTemporary == true {
            return ParseError(.timeout, "\(provider) can't be asked at the moment: try again later", status: 503)
        }
        return ParseError(.scriptFailed, "\(provider): signing in failed: the server's log says why", status: 500)
    }
}
