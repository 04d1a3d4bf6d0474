import Foundation
import RelataCore
import Testing

@Suite struct GeometryTests {
    private func isInside(_ latitude: Double, _ longitude: Double, _ corners: String) -> Bool {
        Geometry.isInPolygon(latitude: latitude, longitude: longitude, corners: corners)
    }

    @Test func edgesAndCornersBelongToAPolygon() {
        let triangle = "[[1, 1], [5, 5], [1, 9]]"
        for place in [(3, 3), (3, 7), (1, 4), (1, 1), (5, 5), (1, 9)] as [(Double, Double)] {
            #expect(isInside(place.0, place.1, triangle), "\(place)")
        }
        // Backwards, it is the same polygon.
        #expect(isInside(3, 7, "[[1, 9], [5, 5], [1, 1]]"))
        #expect(isInside(2, 5, triangle))
        for place in [(3, 2), (3, 8), (0.5, 4), (5, 4), (6, 5), (1, 0), (1, 10)] as [(Double, Double)] {
            #expect(!isInside(place.0, place.1, triangle), "\(place)")
        }
    }

    @Test func polygonsMayBeConcave() {
        let shape = "[[0,0],[0,8],[8,8],[8,6],[2,6],[2,2],[8,2],[8,0]]"
        #expect(!isInside(5, 4, shape))
        #expect(isInside(1, 4, shape) && isInside(5, 1, shape) && isInside(5, 7, shape))
    }

    @Test func aPolygonNeedsMoreThanTwoCorners() {
        #expect(!isInside(1, 1, "[[0,0],[2,2]]"))
        #expect(!isInside(1, 1, "[]"))
    }

    @Test func distancesAreAnglesOnTheSphere() {
        let quarter = Geometry.distance(latitude: 0, longitude: 0, toLatitude: 90, longitude: 0)
        #expect(abs(quarter - .pi / 2) < 1e-12)
        let half = Geometry.distance(latitude: 10, longitude: 20, toLatitude: -10, longitude: 200)
        #expect(abs(half - .pi) < 1e-7)
        #expect(Geometry.distance(latitude: 47, longitude: 8, toLatitude: 47, longitude: 8) == 0)
        let paris = Geometry.distance(latitude: 48.8566, longitude: 2.3522, toLatitude: 51.5074, longitude: -0.1278)
        #expect(abs(paris * 6371 - 343.5) < 0.5)
    }
}
