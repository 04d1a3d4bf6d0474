#if CommandLineTool && Server
import ArgumentParser
import Foundation
import RelataCore
import RelataParse

extension ServeSettings {
    /// The rate limits: `path=/functions/*,requests=100,seconds=60,by=user`. Each `path` begins another limit.
    ///
    /// - Throws: `ValidationError` for an invalid limit.
    func rateLimits() throws -> [RateLimit] {
        var limits: [[String: String]] = []
        for part in list(.rateLimit) ?? [] where !part.isEmpty {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            guard pair.count == 2 else { throw Self.wrong("\(part) has no value") }
            let name = pair[0] == "route" ? "path" : pair[0]
            if name == "path" { limits.append([:]) }
            guard !limits.isEmpty else { throw Self.wrong("it must begin with path=") }
            guard limits[limits.count - 1].updateValue(pair[1], forKey: name) == nil else {
                throw Self.wrong("\(name) is given twice")
            }
        }
        return try limits.map(Self.rateLimit)
    }

    private static func rateLimit(_ given: [String: String]) throws -> RateLimit {
        let names = ["path", "requests", "seconds", "by", "methods", "message", "master"]
        for name in given.keys.sorted() where !names.contains(name) {
            throw wrong("there is no \(name)" + NameSuggestion.hint(for: name, among: names))
        }
        guard let path = given["path"], let count = given["requests"].flatMap({ Int($0) }),
            let seconds = given["seconds"].flatMap({ Double($0) })
        else { throw wrong("it needs path=, requests= and seconds=") }
        var limit = RateLimit(path, count: count, seconds: seconds)
        if let name = given["by"] {
            guard let zone = RateLimit.Zone(rawValue: name) else {
                throw wrong(
                    "by must be one of \(RateLimit.Zone.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            limit.zone = zone
        }
        if let methods = given["methods"] {
            limit.methods = Set(methods.uppercased().split(separator: "+").map(String.init))
        }
        if let message = given["message"] { limit.message = message }
        if let master = given["master"] {
            guard ["true", "false"].contains(master) else {
                throw wrong("master must be true or false")
            }
            limit.includesMasterKey = master == "true"
        }
        do throws(RelataError) {
            try limit.check()
        } catch {
            guard case .invalidUse(let message) = error else { throw error }
            throw wrong(message)
        }
        return limit
    }

    private static func wrong(_ what: String) -> ValidationError {
        ValidationError("\(ServeSetting.rateLimit.flag): \(what)")
    }
}
#endif
