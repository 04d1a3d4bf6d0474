import RelataParse
import TestEngines
import Testing

/// The order of numbers in a pair: the longitude is first in conditions, the latitude in stored polygons.
@Suite(.onEveryEngine) struct PolygonAxesTests {
    private let server: TestServer

    init() async throws {
        server = try TestServer()
        // The two can't be confused: no latitude is 120.
        try await server.save(
            "City", ["name": "Beijing", "at": place(39.9, 116.4)], ["name": "Oslo", "at": place(59.9, 10.7)],
            ["name": "Swapped", "at": place(10.7, 59.9)])
    }

    private func pairs(_ corners: [[Double]]) -> JSONValue {
        .array(corners.map { .array($0.map { JSONValue(number: $0) }) })
    }

    private func within(_ polygon: JSONValue) async throws -> [String] {
        try await server.names("City", ["at": ["$geoWithin": ["$polygon": polygon]]])
    }

    @Test func allFormsOfAPolygonHaveTheLongitudeFirst() async throws {
        let norway = [[5, 55], [15, 55], [15, 65], [5, 65.0]]
        let points = JSONValue.array(norway.map { place($0[1], $0[0]) })
        for polygon in [["__type": "Polygon", "coordinates": pairs(norway)], pairs(norway), points] as [JSONValue] {
            #expect(try await within(polygon) == ["Oslo"], "\(polygon)")
        }
        let china = [[110, 30], [120, 30], [120, 45], [110, 45], [110, 30.0]]
        #expect(try await within(["__type": "Polygon", "coordinates": pairs(china)]) == ["Beijing"])
        let swapped = pairs([[30, 110], [30, 120], [45, 120]])
        #expect(try await server.error("City", ["at": ["$geoWithin": ["$polygon": swapped]]]).code == 107)
    }

    @Test func aStoredPolygonHasTheLatitudeFirst() async throws {
        let area: JSONValue = [
            "__type": "Polygon", "coordinates": pairs([[55, 5], [55, 15], [65, 15], [65, 5], [55, 5]]),
        ]
        let id = try await server.create("Zone", ["name": "north", "area": area])
        #expect(try await server.get("Zone", id)["area"] == area)
        #expect(try await server.names("Zone", ["area": area]) == ["north"])
        func holding(_ point: JSONValue) async throws -> [String] {
            try await server.names("Zone", ["area": ["$geoIntersects": ["$point": point]]])
        }
        #expect(try await holding(place(59.9, 10.7)) == ["north"])
        #expect(try await holding(place(10.7, 59.9)) == [])
        let circle: JSONValue = ["$geoWithin": ["$centerSphere": [[10, 60], 0.05]]]
        #expect(try await server.names("City", ["at": circle]) == ["Oslo"])
    }

    @Test func aPolygonNeedsThreeCorners() async throws {
        let line = pairs([[5, 55], [15, 55]])
        for (polygon, words) in [
            (
                ["__type": "Polygon", "coordinates": line],
                "Polygon.coordinates should contain at least 3 lon/lat pairs"
            ),
            (["__type": "Polygon"], "Polygon.coordinates should contain at least 3 lon/lat pairs"),
            (line, "$polygon should contain at least 3 GeoPoints"),
            (5, "$polygon should be Polygon object or Array of Parse.GeoPoint's"),
        ] as [(JSONValue, String)] {
            let error = try await server.error("City", ["at": ["$geoWithin": ["$polygon": polygon]]])
            #expect(error.code == 107 && error.message == "bad $geoWithin value; \(words)", "\(error)")
        }
    }
}
