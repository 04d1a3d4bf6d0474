#if Server
import Foundation
import RelataCore

/// The keys of a running server, and the check after a replacement.
struct KeyRotation: Sendable {
    let ring: KeyRing
    /// Disconnects clients whose keys aren't valid any more.
    let check: @Sendable () async -> Void
}

extension RelataServer {
    /// Replaces the keys of a running server. The application's id stays the same, and so does the rule whether clients
    /// need a key.
    ///
    /// Clients that connected with a key that is no longer valid are disconnected. Sessions of the dashboard that began
    /// with such a key end.
    ///
    /// - Parameters:
    ///   - keys: The keys from now on.
    ///   - overlap: The time that the replaced keys of backends stay valid.
    public func replaceKeys(with keys: ServerKeys, overlap: Duration = .zero) async {
        guard let rotation else { return }
        let endsNow = overlap <= .zero && keys.masterKey != rotation.ring.keys.masterKey
        rotation.ring.replace(with: keys, overlap: overlap)
        if endsNow { sessions?.endAll() }
        await rotation.check()
    }

    /// Replaces the keys whenever a key file changes, until the task is cancelled. If the file can't be read, the keys
    /// stay the same, and the log has the reason.
    ///
    /// - Parameters:
    ///   - path: The file, as ``KeyFile`` reads it.
    ///   - given: Keys that replace those in the file.
    ///   - current: The content of the file at the last reading.
    ///   - overlap: The time that replaced keys of backends stay valid.
    ///   - interval: The time between two readings of the file.
    public func followKeys(
        in path: String, given: KeyFile.Given, since current: KeyFile, overlap: Duration,
        interval: Duration = .seconds(2)
    ) async {
        var last = current.bytes ?? FileManager.default.contents(atPath: path)
        var lastProblem: String?
        while (try? await Task.sleep(for: interval)) != nil {
            await endReplacedKeys()
            // The whole file is compared: it is small, and its times may not show two changes in quick succession.
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

    /// Disconnects clients whose keys are no longer valid.
    private func endReplacedKeys() async {
        guard let rotation, rotation.ring.removeEnded() else { return }
        sessions?.endAll()
        await rotation.check()
    }
}
#endif
