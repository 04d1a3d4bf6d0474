/// The messages about shapes.
extension Misuse {
    static func shapeOfOther(_ introducer: String) -> Misuse {
        Misuse("@Shape needs a struct: a shape is a value. Write 'struct' instead of '\(introducer)'")
    }
    static func genericShape(_ shape: String) -> Misuse {
        Misuse("'\(shape)' can't be generic: write a shape for each type of content")
    }
    static func hiddenShape(_ shape: String) -> Misuse {
        Misuse(
            "'\(shape)' can't be private inside another type, where its conformance can't see it: write 'fileprivate'")
    }
    static var shapeWithoutModel: Misuse {
        Misuse("@Shape needs its model by name, as in '@Shape(of: Setlist.self)'")
    }
    static func outsideShape(_ marker: String) -> Misuse {
        Misuse("@\(marker) defines a property of a shape: mark the struct with @Shape, or remove it here")
    }
    static func markerOnLoneProperty(_ name: String, _ marker: String) -> Misuse {
        Misuse("'\(name)' is computed or transient, so nothing is fetched for it: remove @\(marker)")
    }
    static func twoSources(_ name: String, _ first: String, _ second: String) -> Misuse {
        Misuse("'\(name)' has one source: keep \(first) or @\(second)")
    }
    static func constantInShape(_ name: String) -> Misuse {
        Misuse("'\(name)' must be 'var': lists are filled in after their owners were read")
    }
    static func shapeWithoutType(_ name: String) -> Misuse {
        Misuse("'\(name)' needs an explicit type, which determines how it is fetched: 'var \(name): …'")
    }
    static func sourceWithoutPath(_ name: String, _ marker: String, _ example: String) -> Misuse {
        Misuse("'\(name)' needs the names to follow, such as '@\(marker)(\(example))'")
    }
}
