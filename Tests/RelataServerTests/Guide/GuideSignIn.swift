#if Server
import RelataParse
import RelataServer

/// Tells which member of the forum a token is of.
protocol ForumMembers: Sendable {
    func id(ofToken token: String) async throws -> String?
}

/// The options of a server whose users sign in by other services.
func optionsWithServices(_ forum: any ForumMembers) -> ParseService.Options {
    var options = ParseService.Options()
    options.signIn = [
        .apple(clientIDs: ["org.example.library"]),
        .google(clientIDs: ["123-abc.apps.googleusercontent.com"]),
        .openID("school", issuer: "https://id.example.org/realms/school", audiences: ["library"]),
        .custom("forum") { authData in
            guard let token = authData["token"]?.string, let id = try await forum.id(ofToken: token) else {
                throw SignInError("the forum doesn't know this token")
            }
            return id
        },
    ]
    return options
}
#endif
