import Foundation

/// Places on a sphere, in degrees of latitude and longitude.
package enum Geometry {
    /// The angle between two places in radians, by the haversine formula.
    package static func distance(
        latitude: Double, longitude: Double, toLatitude: Double, longitude toLongitude: Double
    ) -> Double {
        let radians = Double.pi / 180
        let (first, second) = (latitude * radians, toLatitude * radians)
        let half = sin((second - first) / 2)
        let other = sin((toLongitude - longitude) * radians / 2)
        return 2 * asin(min(1, (half * half + cos(first) * cos(second) * other * other).squareRoot()))
    }

    /// Whether a place is in a polygon or on its edge, in plane geometry. The last corner is joined to the first.
    ///
    /// - Parameter corners: The JSON text of an array of corners, each an array of latitude and longitude.
    package static func isInPolygon(latitude: Double, longitude: Double, corners: String) -> Bool {
        let numbers = numbers(in: corners)
        let count = numbers.count / 2
        guard count > 2 else { return false }
        var isInside = false
        var last = (numbers[count * 2 - 2], numbers[count * 2 - 1])
        for index in 0..<count {
            let corner = (numbers[index * 2], numbers[index * 2 + 1])
            defer { last = corner }
            let cross =
                (longitude - last.1) * (corner.0 - last.0) - (latitude - last.0) * (corner.1 - last.1)
            if cross == 0, min(last.0, corner.0)...max(last.0, corner.0) ~= latitude,
                min(last.1, corner.1)...max(last.1, corner.1) ~= longitude
            {
                return true
            }
            if (corner.1 > longitude) != (last.1 > longitude),
                latitude < (last.0 - corner.0) * (longitude - corner.1) / (last.1 - corner.1) + corner.0
            {
                isInside.toggle()
            }
        }
        return isInside
    }

    /// The numbers of a JSON text, in order, at any depth.
    private static func numbers(in json: String) -> [Double] {
        json.utf8.split { !(0x30...0x39).contains($0) && ![0x2B, 0x2D, 0x2E, 0x45, 0x65].contains($0) }
            .compactMap { Double(Substring($0)) }
    }
}
