extension StoredProperty {
    /// The reasons for which the compiler may refuse the property, with their messages.
    func refusals(in model: String) -> [(reason: String, message: String)] {
        let type = type?.spelling.split(whereSeparator: \.isNewline).joined(separator: " ") ?? ""
        guard let link else {
            let instead = self.type?.linkInstead ?? "ToOne<Author>"
            return [
                (
                    "RefusedType",
                    "'\(name)' can't be of the type \(type): a stored property must be Bool, a number, String, Date, "
                        + "Data, UUID, URL, an enum with a raw value, a Codable & Sendable type, or an optional of these; "
                        + "mark it @Transient to leave it out"
                ),
                (
                    "RefusedModel",
                    "'\(name)' can't be of the type \(type): models aren't stored inside another: write its type as '\(instead)'"
                ),
            ]
        }
        let start = "'\(name)' of the type \(type): "
        var refusals: [(reason: String, message: String)] = []
        switch link.kind {
        case .through:
            refusals.append(
                (
                    "RefusedWay",
                    start + "through: must name a ToMany of this model and then a to-one of its objects that leads to "
                        + "\(link.target)"
                ))
        case .hasOne:
            refusals.append(
                (
                    "RefusedInverse",
                    start + "inverse: must name the to-one of the target that links back here, a ToOne<\(model)> "
                        + "(optional or not)"
                ))
        case .toOne, .toMany:
            refusals.append(
                (
                    "RefusedInverse",
                    start + "inverse: must name the property of the target that links back here: a ToOne<\(model)> "
                        + "(optional or not), or a ToMany<\(model)> for many-to-many"
                ))
        }
        if relationship?["order"] != nil {
            refusals.append(
                ("RefusedOrder", start + "order: must name an integer attribute of the objects of the list"))
        }
        return refusals
    }
}
