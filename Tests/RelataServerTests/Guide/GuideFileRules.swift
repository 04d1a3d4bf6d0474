#if Server
import RelataParse

extension CloudCode {
    /// Accepts only pictures, records who uploaded them, lets only users download them, and checks installations and
    /// parameters.
    mutating func addFileRules() {
        beforeSaveFile { file, call in
            let head = try await file.bytes(0..<4).next() ?? []
            guard head == [0x89, 0x50, 0x4E, 0x47] else { throw ParseError(.fileSaveError, "only PNG pictures") }
            file.name = "cover.png"
            file.metadata["by"] = call.userID.map { .string($0) }
        }
        afterSaveFile { file, call in
            _ = try? await call.asMaster.create(
                "Upload", ["name": .string(file.name), "size": .integer(Int64(file.size))])
        }
        beforeFindFile { file, call in
            guard call.user != nil || call.isMaster else { throw ParseError(.operationForbidden, "sign in first") }
        }
        afterFindFile { download, call in
            if download.file.tags["isOriginal"] == true { download.isAttachment = true }
        }
        beforeSave("_Installation") { save, call in
            if save.isNew { save.object["channels"] = ["news"] }
        }
        beforeSaveConfig { config, call in
            guard config.parameters["welcome"]?.string?.isEmpty == false else {
                throw ParseError(.validationError, "clients need a welcome")
            }
        }
        afterSaveConfig { config, call in
            _ = try? await call.asMaster.create("ConfigChange", ["before": .object(config.original)])
        }
    }
}
#endif
