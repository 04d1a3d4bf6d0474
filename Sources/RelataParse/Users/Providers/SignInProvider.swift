import RelataCore

/// Another service that verifies users. Clients send the service's proof in `authData` to sign in.
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
/// A user is identified by the service's name and its id for the user. Nothing else, such as an equal address, joins
/// two accounts.
public struct SignInProvider: Sendable {
    /// The service's name in `authData`: `apple`.
    public let name: String
    /// Verifies the data of a request, and returns the user's id.
    private let verify: @Sendable (JSONObject) async throws -> String
    /// Returns what is wrong with the configuration, before any user signs in.
    private let problem: @Sendable () -> String?

    /// A service.
    ///
    /// - Parameters:
    ///   - name: The service's name in `authData`: letters, digits and `_`, beginning with a letter.
    ///   - problem: Returns what is wrong with the configuration, or `nil`.
    ///   - verify: Takes the client's data for this service, and returns the id of the user who sent it. The id must
    ///     come from the service, never from the client alone; a different id in the client's data is an error. Throws
    ///     ``SignInError`` if the service refuses the data, or can't be asked.
    public init(
        _ name: String, problem: @escaping @Sendable () -> String? = { nil },
        verify: @escaping @Sendable (_ authData: JSONObject) async throws -> String
    ) {
        self.name = name
        self.verify = verify
        self.problem = problem
    }

    /// A service whose users a closure verifies.
    ///
    /// - Parameters:
    ///   - name: The service's name in `authData`: letters, digits and `_`, beginning with a letter.
    ///   - verify: Takes the client's data for this service, and returns the id of the user who sent it.
    public static func custom(
        _ name: String, verify: @escaping @Sendable (_ authData: JSONObject) async throws -> String
    ) -> SignInProvider { SignInProvider(name, verify: verify) }

    /// The maximum length of an id, in bytes.
    static let maximumID = 256

    /// Checks the configuration of all services.
    ///
    /// - Throws: `RelataError` that describes the error.
    public static func check(_ providers: [SignInProvider]) throws(RelataError) {
        var names: Set<String> = []
        for provider in providers {
            let name = provider.name
            guard ParseNames.canBeField(name), name != UserFields.anonymous else {
                throw .invalidUse(
                    "signIn: no provider can be called \(name): use letters, digits and _, beginning with a letter, and another name than \(UserFields.anonymous)"
                )
            }
            guard names.insert(name).inserted else {
                throw .invalidUse("signIn: two providers are called \(name): give one of them another name")
            }
            if let problem = provider.problem() { throw .invalidUse("signIn: \(name): \(problem)") }
        }
    }

    /// The user's id, as verified by the service.
    ///
    /// - Parameter claimed: The id in the client's data; `nil` if there is none.
    /// - Throws: ``ParseError`` 101 if the service refuses the data, or if its id differs from the claimed one;
    ///   ``FailedSignIn`` if the service can't be asked, or if asking it fails.
    func id(by authData: JSONObject, claimed: String?) async throws -> String {
        if let claimed, !Self.canBeID(claimed) { throw otherAccount }
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
        guard Self.canBeID(id) else {
            throw FailedSignIn(
                provider: name, error: SignInError("an id has 1 to \(Self.maximumID) bytes, and none of them is 0"))
        }
        guard claimed?.hasSameBytes(as: id) ?? true else { throw otherAccount }
        return id
    }

    private static func canBeID(_ text: String) -> Bool {
        (1...maximumID).contains(text.utf8.count) && !text.utf8.contains(0)
    }

    private var otherAccount: ParseError {
        ParseError(.objectNotFound, "\(name): the id doesn't match the account that signs in")
    }
}

/// The error of a service that doesn't sign a user in.
public struct SignInError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error's description, for people. Clients receive it, unless it is temporary: then it is only logged.
    public let description: String
    /// Whether the service couldn't be asked, so the same request may succeed later.
    public let isTemporary: Bool

    /// Creates an error.
    public init(_ description: String, isTemporary: Bool = false) {
        self.description = description
        self.isTemporary = isTemporary
    }
}

/// An error while a service was asked. The log contains the details; clients get only a general message.
struct FailedSignIn: Error, CustomStringConvertible {
    let provider: String
    let error: any Error

    var description: String { "signing in by \(provider) failed: \(error)" }

    /// The error for clients.
    var parseError: ParseError {
        if (error as? SignInError)?.isTemporary == true {
            return ParseError(.timeout, "\(provider) can't be reached at the moment: try again later", status: 503)
        }
        return ParseError(.scriptFailed, "\(provider): signing in failed: the server's log says why", status: 500)
    }
}
