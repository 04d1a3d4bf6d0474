#if CommandLineTool && Server
import ArgumentParser
import Foundation

/// The folder of `--public`.
struct PublicFolder {
    let path: String

    /// - Throws: `ValidationError` if the folder contains a file that clients may not read.
    func check(besides secrets: [String]) throws {
        let folder = Self.resolved(path)
        for secret in secrets {
            let file = URL(fileURLWithPath: secret)
            // A missing file will be created in its folder. If the file is a link, its target's folder counts, too.
            let parents = [
                file.deletingLastPathComponent().path,
                URL(fileURLWithPath: Self.resolved(secret)).deletingLastPathComponent().path,
            ]
            for parent in parents.map(Self.resolved)
            where parent == folder || parent.hasPrefix(folder + "/") || folder == "/" {
                throw ValidationError(
                    "--public must be its own folder: \(path) holds \(secret), which clients may not read")
            }
        }
    }

    private static func resolved(_ path: String) -> String {
        URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    }
}
#endif
