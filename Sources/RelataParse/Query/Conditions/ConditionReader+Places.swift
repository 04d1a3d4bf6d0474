import RelataCore

/// Places on Earth: `$nearSphere`, `$within`, `$geoWithin` and `$geoIntersects`.
extension ConditionReader {
    /// Values near a place, nearest first.
    func near(
        _ operation: Operation, _ siblings: JSONObject, _ target: Target
    ) throws(ParseError) -> (condition: ExpressionNode, order: SortTerm?) {
        let center = try point(operation.operand, operation)
        var furthest: Double?
        for (name, radius) in Self.radii {
            guard let limit = siblings[name] else { continue }
            guard let distance = limit.number, distance >= 0 else {
                throw Operation(name: name, operand: limit, field: operation.field).wrong(
                    "must be a number, at least 0")
            }
            furthest = distance / radius
        }
        let condition = target.any { source in
            guard let place = source.place else { return Self.nothing }
            let distance = place.distance(to: center)
            return furthest.map { .comparison(.lessOrEqual, distance, .value(.real($0)), []) }
                ?? .not(.isNull(distance))
        }
        guard target.ways.isEmpty, let place = target.source.place else { return (condition, nil) }
        return (condition, SortTerm(place.distance(to: center)))
    }

    /// The Earth's radius in the units of each operator.
    private static let radii: [(name: String, radius: Double)] = [
        ("$maxDistance", 1), ("$maxDistanceInRadians", 1), ("$maxDistanceInMiles", 3959),
        ("$maxDistanceInKilometers", 6371),
    ]

    /// Values in a box between two parallels and two meridians, given by any two opposite corners. No box crosses the
    /// 180th meridian.
    func isInBox(_ operation: Operation, _ target: Target) throws(ParseError) -> ExpressionNode {
        guard let corners = operation.operand["$box"]?.array, corners.count == 2 else {
            throw operation.malformed("malformatted $within arg")
        }
        try Self.check(operation.operand, allows: ["$box"])
        let (first, second) = (try point(corners[0], operation), try point(corners[1], operation))
        let latitudes = [first.latitude, second.latitude].sorted()
        let longitudes = [first.longitude, second.longitude].sorted()
        return target.any { source in
            guard let place = source.place else { return Self.nothing }
            return .and([
                .between(place.latitude, .value(.real(latitudes[0])), .value(.real(latitudes[1]))),
                .between(place.longitude, .value(.real(longitudes[0])), .value(.real(longitudes[1]))),
            ])
        }
    }

    /// Values in a polygon, or in a circle on the sphere.
    func isInArea(_ operation: Operation, _ target: Target) throws(ParseError) -> ExpressionNode {
        if let polygon = operation.operand["$polygon"] {
            try Self.check(operation.operand, allows: ["$polygon"])
            let corners = try corners(polygon, operation)
            return target.any { source in
                guard let place = source.place else { return Self.nothing }
                return .function(.isInPolygon, [place.latitude, place.longitude, .value(.text(corners))])
            }
        }
        guard let circle = operation.operand["$centerSphere"]?.array, circle.count == 2 else {
            throw operation.malformed(
                "bad $geoWithin value; $centerSphere should be an array of Parse.GeoPoint and distance")
        }
        try Self.check(operation.operand, allows: ["$centerSphere"])
        let center = try point(circle[0], operation, "bad $geoWithin value; $centerSphere geo point invalid")
        guard let radius = circle[1].number, radius >= 0 else {
            throw operation.malformed("bad $geoWithin value; $centerSphere distance invalid")
        }
        return target.any { source in
            guard let place = source.place else { return Self.nothing }
            return .comparison(.lessOrEqual, place.distance(to: center), .value(.real(radius)), [])
        }
    }

    /// Polygons that hold a place.
    func holdsPoint(_ operation: Operation, _ target: Target) throws(ParseError) -> ExpressionNode {
        let message = "bad $geoIntersect value; $point should be GeoPoint"
        guard let value = operation.operand["$point"] else { throw operation.malformed(message) }
        try Self.check(operation.operand, allows: ["$point"])
        let point = try point(value, operation, message)
        return target.any { source in
            guard case .json(let place) = source else { return Self.nothing }
            return .function(
                .isInPolygon,
                [.value(.real(point.latitude)), .value(.real(point.longitude)), place["coordinates"].read(.compound)])
        }
    }

    // MARK: Operands

    /// A GeoPoint; a pair of numbers is a longitude and a latitude.
    ///
    /// - Parameter message: The error for any other value.
    private func point(
        _ value: JSONValue, _ operation: Operation, _ message: String? = nil
    ) throws(ParseError) -> GeoPoint {
        try Self.check(value)
        var value = value
        if let pair = value.array, pair.count == 2 {
            value = ["__type": "GeoPoint", "latitude": pair[1], "longitude": pair[0]]
        } else if value["__type"] == nil, var members = value.object {
            members["__type"] = "GeoPoint"
            value = .object(members)
        }
        do {
            if let point = try GeoPoint(value, of: operation.field) { return point }
        } catch {
            throw operation.wrong(
                "has a place that isn't on Earth: latitudes must be in -90...90, and longitudes in -180...180")
        }
        throw message.map { operation.malformed($0) } ?? operation.wrong("needs a GeoPoint")
    }

    /// The corners of a polygon as JSON, latitudes first.
    ///
    /// In a query, the corners are points as in GeoJSON, also in a Polygon: pairs have the longitude first. A stored
    /// Polygon has the latitude first.
    private func corners(_ value: JSONValue, _ operation: Operation) throws(ParseError) -> String {
        let isPolygon = value["__type"] == "Polygon"
        guard isPolygon || value.array != nil else {
            throw operation.malformed(
                "bad $geoWithin value; $polygon should be Polygon object or Array of Parse.GeoPoint's")
        }
        guard let points = isPolygon ? value["coordinates"]?.array : value.array, points.count >= 3 else {
            throw operation.malformed(
                isPolygon
                    ? "bad $geoWithin value; Polygon.coordinates should contain at least 3 lon/lat pairs"
                    : "bad $geoWithin value; $polygon should contain at least 3 GeoPoints")
        }
        var corners: [JSONValue] = []
        for value in points {
            let point = try point(value, operation, "bad $geoWithin value")
            corners.append([JSONValue(number: point.latitude), JSONValue(number: point.longitude)])
        }
        return JSONWriter.text(.array(corners))
    }
}

extension Source {
    /// The place of a value in JSON; `nil` for a value with separate columns.
    var place: JSONPlace? { if case .json(let place) = self { place } else { nil } }
}

extension JSONPlace {
    fileprivate var latitude: ExpressionNode { self["latitude"].read(.number) }
    fileprivate var longitude: ExpressionNode { self["longitude"].read(.number) }

    /// The angle to a point; unset if the value has none.
    fileprivate func distance(to center: GeoPoint) -> ExpressionNode {
        .function(
            .distance, [latitude, longitude, .value(.real(center.latitude)), .value(.real(center.longitude))])
    }
}
