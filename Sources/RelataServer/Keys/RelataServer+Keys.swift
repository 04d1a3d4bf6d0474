#if Server
import Foundation
import RelataCore

/// What a server does when its keys are replaced.
struct KeyRotation: Sendable {
    let ring: KeyRing
    /// Lets clients go whose keys aren't valid any more.
    let check: @Sendable () async -> Void
}

extension RelataServer {
    /// Puts other keys in the place of the server's while it runs. The application's id stays, and whether clients need
    /// a key.
    ///
    /// Clients that are connected by a key that isn't valid any more are disconnected, and so are the dashboard's users
    /// who signed in with it.
    ///
    /// - Parameters:
    ///   - keys: The keys from now on.
    ///   - overlap: For how long the replaced keys of backends are valid as well.
    public func replaceKeys(with keys: ServerKeys, overlap: Duration = .zero) async {
        guard let rotation else { return }
        let endsNow = overlap <= .zero && keys.masterKey != rotation.ring.keys.masterKey
        rotation.ring.replace(with: keys, overlap: overlap)
        if endsNow { sessions?.endAll() }
        await rotation.check()
    }

    /// Takes over the keys of a file whenever it changes, until the task is cancelled. A file that can't be read leaves
    /// the keys as they are, and the log says why.
    ///
    /// - Parameters:
    ///   - path: The file, as ``KeyFile`` reads it.
    ///   - given: Keys that replace those in the file.
    ///   - current: The file as it was read last.
    ///   - overlap: For how long replaced keys of backends are valid as well.
    ///   - interval: How often the file is looked at.
    public func followKeys(
        in path: String, given: KeyFile.Given, since current: KeyFile, overlap: Duration,
        interval: Duration = .seconds(2)
    ) async {
        var last = current.bytes ?? FileManager.default.contents(atPath: path)
        var lastProblem: String?
        while (try? await Task.sleep(for: interval)) != nil {
            await endReplacedKeys()
            // The file is small. Its times tell nothing of two changes that follow each other closely.
            let bytes = FileManager.default.contents(atPath: path)
            if bytes == last, lastProblem == nil { continue }
            do {
                let file = try KeyFile(existing: path, given: given)
                (last, lastProblem) = (file.bytes, nil)
                await replaceKeys(with: file.keys, overlap: overlap)
                logger.notice("the keys were replaced", metadata: ["file": "\(path)"])
            } catch {
                last = bytes
                if lastProblem != "\(error)" {
                    logger.error(
                        "the keys stay as they are", metadata: ["file": "\(path)", "error": "\(error)"])
                }
                lastProblem = "\(error)"
            }
        }
    }

    /// Disconnects those whose keys have come to their end.
    private func endReplacedKeys() async {
        guard let rotation, rotation.ring.removeEnded() else { return }
        sessions?.endAll()
        await rotation.check()
    }
}
#endif
