#if CommandLineTool && Server
import ArgumentParser
import Foundation
import RelataCore
import RelataEngine
import RelataParse
import RelataServer

extension ServeSettings {
    /// The services through which users sign in.
    ///
    /// - Throws: `ValidationError` that names an invalid setting; ``RelataError`` for a file that can't be read.
    func signInProviders() throws -> [SignInProvider] {
        var providers: [SignInProvider] = []
        if let ids = list(.appleClientIDs) { providers.append(.apple(clientIDs: ids)) }
        if let ids = list(.googleClientIDs) { providers.append(.google(clientIDs: ids)) }
        if let provider = try openID() { providers.append(provider) }
        return providers
    }

    private func openID() throws -> SignInProvider? {
        let others: [ServeSetting] = [
            .openIDClientIDs, .openIDName, .openIDKeys, .openIDAlgorithms, .openIDCertificates,
        ]
        guard let issuer = text(.openIDIssuer) else {
            guard let other = others.first(where: { text($0) != nil }) else { return nil }
            throw ValidationError("\(other.flag) needs --openid-issuer: the issuer (iss) in the provider's tokens")
        }
        guard let ids = list(.openIDClientIDs) else {
            throw ValidationError("--openid-issuer needs --openid-client-ids: the accepted audiences of tokens")
        }
        var documents = HTTPSDocuments()
        documents.certificates = text(.openIDCertificates)
        return .openID(
            text(.openIDName) ?? "openid", issuer: issuer, audiences: ids, keys: try keys(),
            algorithms: try algorithms(), documents: documents)
    }

    private func keys() throws -> OpenIDKeys {
        guard let place = text(.openIDKeys) else { return .discovered }
        if ["https://", "http://"].contains(where: place.hasPrefix) { return .at(place) }
        try RegularFile.check(place, for: "keys")
        guard let data = FileManager.default.contents(atPath: place) else {
            throw RelataError.fileAccess(path: place, "can't be read as a provider's keys")
        }
        return .given(String(decoding: data, as: UTF8.self))
    }

    private func algorithms() throws -> Set<OpenIDAlgorithm> {
        guard let names = list(.openIDAlgorithms) else { return [.rs256, .es256] }
        return Set(
            try names.map { name in
                if let algorithm = OpenIDAlgorithm(rawValue: name) { return algorithm }
                let all = OpenIDAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("--openid-algorithms must be of \(all), not \(name)")
            })
    }
}
#endif
