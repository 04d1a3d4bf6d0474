/// JSON, dates and places.
extension PostgresFunctions {
    /// JSON is `jsonb`: it doesn't preserve the order of members, and of repeated names the last one counts. Invalid
    /// JSON reads as unset.
    static let json = #"""
        -- Unsafe in parallel: to catch an error is a transaction of its own.
        CREATE OR REPLACE FUNCTION relata.json(value text) RETURNS jsonb
        LANGUAGE plpgsql IMMUTABLE STRICT AS $$
        BEGIN
            RETURN value::jsonb;
        EXCEPTION WHEN data_exception OR statement_too_complex THEN
            RETURN NULL;
        END $$;

        CREATE OR REPLACE FUNCTION relata.json_at(value jsonb, place jsonpath) RETURNS jsonb
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT jsonb_path_query_first(value, place, '{}', true) $$;

        CREATE OR REPLACE FUNCTION relata.json_elements(list jsonb) RETURNS TABLE (value jsonb)
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT element.value
            FROM jsonb_array_elements(CASE WHEN jsonb_typeof($1) = 'array' THEN $1 END) AS element (value)
        $$;

        -- The text that equal values have in common: members are sorted by the bytes of their names.
        CREATE OR REPLACE FUNCTION relata.json_compact(value jsonb) RETURNS text
        LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
        BEGIN
            RETURN CASE jsonb_typeof(value)
                WHEN 'object' THEN '{' || coalesce((
                    SELECT string_agg(
                        to_json(name)::text || ':' || relata.json_compact(member), ',' ORDER BY name COLLATE "C")
                    FROM jsonb_each(value) AS members (name, member)), '') || '}'
                WHEN 'array' THEN '[' || coalesce((
                    SELECT string_agg(relata.json_compact(element), ',' ORDER BY place)
                    FROM jsonb_array_elements(value) WITH ORDINALITY AS elements (element, place)), '') || ']'
                ELSE value::text END;
        END $$;

        CREATE OR REPLACE FUNCTION relata.json_number(value jsonb) RETURNS double precision
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT CASE WHEN jsonb_typeof(value) = 'number' THEN
                CASE WHEN value::numeric = 0 OR abs(value::numeric) BETWEEN 1e-307 AND 1.797e308
                THEN value::double precision END
            END
        $$;

        CREATE OR REPLACE FUNCTION relata.json_string(value jsonb) RETURNS text
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT CASE WHEN jsonb_typeof(value) = 'string' THEN value #>> '{}' END
        $$;

        CREATE OR REPLACE FUNCTION relata.json_boolean(value jsonb) RETURNS boolean
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT CASE WHEN jsonb_typeof(value) = 'boolean' THEN value::boolean END
        $$;

        CREATE OR REPLACE FUNCTION relata.json_compound(value jsonb) RETURNS text
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT CASE WHEN jsonb_typeof(value) IN ('object', 'array') THEN relata.json_compact(value) END
        $$;

        CREATE OR REPLACE FUNCTION relata.json_text(value jsonb) RETURNS text
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT CASE WHEN jsonb_typeof(value) <> 'null' THEN relata.json_compact(value) END
        $$;

        -- Whatever it is, as SQLite compares it: conditions are numbers, and what is compound is its text.
        CREATE OR REPLACE FUNCTION relata.json_any(value jsonb) RETURNS jsonb
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT CASE jsonb_typeof(value)
                WHEN 'null' THEN NULL
                WHEN 'boolean' THEN to_jsonb(value::boolean::integer)
                WHEN 'object' THEN to_jsonb(relata.json_compact(value))
                WHEN 'array' THEN to_jsonb(relata.json_compact(value))
                ELSE value END
        $$;
        """#

    /// Dates outside of the range of `timestamptz`, before 4714 B.C. and after 294276, are unset.
    static let dates = #"""
        CREATE OR REPLACE FUNCTION relata.instant(microseconds bigint) RETURNS timestamptz
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT CASE WHEN microseconds >= -210866803200000000 THEN
                (timestamp 'epoch' + make_interval(
                    days => CAST(microseconds / 86400000000 AS integer),
                    secs => CAST(microseconds % 86400000000 AS double precision) / 1000000)) AT TIME ZONE 'UTC'
            END
        $$;

        CREATE OR REPLACE FUNCTION relata.instant(seconds double precision) RETURNS timestamptz
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT CASE WHEN seconds >= -210866803200 AND seconds < 9223372036854 THEN
                relata.instant(CAST(round(seconds * 1000000) AS bigint))
            END
        $$;

        -- ISO 8601 in UTC. The time zone of the session doesn't matter; a day that a month doesn't have is one of the next.
        CREATE OR REPLACE FUNCTION relata.instant(value text) RETURNS timestamptz
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT CASE
                WHEN value ~ '^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[T ]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?Z?$'
                    AND left(value, 4) <> '0000'
                THEN (make_timestamp(
                        CAST(left(value, 4) AS integer), CAST(substr(value, 6, 2) AS integer), 1,
                        CAST(substr(value, 12, 2) AS integer), CAST(substr(value, 15, 2) AS integer),
                        CAST(rtrim(substr(value, 18), 'Z') AS double precision))
                    + make_interval(days => CAST(substr(value, 9, 2) AS integer) - 1)) AT TIME ZONE 'UTC'
            END
        $$;

        CREATE OR REPLACE FUNCTION relata.add_microseconds(instant timestamptz, microseconds bigint) RETURNS timestamptz
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT CASE
                WHEN extract(epoch FROM instant) + microseconds / 1000000.0 BETWEEN -210866803200 AND 9223372036854
                THEN (instant AT TIME ZONE 'UTC' + make_interval(
                    days => CAST(microseconds / 86400000000 AS integer),
                    secs => CAST(microseconds % 86400000000 AS double precision) / 1000000)) AT TIME ZONE 'UTC'
            END
        $$;

        CREATE OR REPLACE FUNCTION relata.add_months(instant timestamptz, months bigint) RETURNS timestamptz
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT CASE
                WHEN abs(months) <= 240000 AND isfinite(instant)
                    AND extract(year FROM instant AT TIME ZONE 'UTC') + months / 12 BETWEEN -4700 AND 292000
                THEN (instant AT TIME ZONE 'UTC' + make_interval(months => CAST(months AS integer))) AT TIME ZONE 'UTC'
            END
        $$;
        """#

    /// As ``Geometry``.
    static let places = #"""
        CREATE OR REPLACE FUNCTION relata.distance(
            latitude double precision, longitude double precision, other_latitude double precision,
            other_longitude double precision
        ) RETURNS double precision
        LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
            SELECT 2 * asin(least(1, sqrt(
                sin((radians(other_latitude) - radians(latitude)) / 2) ^ 2
                + cos(radians(latitude)) * cos(radians(other_latitude))
                    * sin(radians(other_longitude - longitude) / 2) ^ 2)))
        $$;

        CREATE OR REPLACE FUNCTION relata.in_polygon(
            latitude double precision, longitude double precision, corners text
        ) RETURNS boolean
        LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
        DECLARE
            numbers double precision[] := (
                SELECT array_agg(CAST(number[1] AS double precision) ORDER BY place)
                FROM regexp_matches(corners, '[0-9+\-.eE]+', 'g') WITH ORDINALITY AS found (number, place)
                WHERE number[1] ~ '^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,2})?$');
            count integer := cardinality(numbers) / 2;
            inside boolean := false;
            x double precision;
            y double precision;
            last_x double precision;
            last_y double precision;
        BEGIN
            IF count IS NULL OR count < 3 THEN RETURN false; END IF;
            last_x := numbers[count * 2 - 1];
            last_y := numbers[count * 2];
            FOR index IN 1..count LOOP
                x := numbers[index * 2 - 1];
                y := numbers[index * 2];
                IF (longitude - last_y) * (x - last_x) - (latitude - last_x) * (y - last_y) = 0
                    AND latitude BETWEEN least(last_x, x) AND greatest(last_x, x)
                    AND longitude BETWEEN least(last_y, y) AND greatest(last_y, y)
                THEN RETURN true; END IF;
                -- Two conditions, because the second divides by what the first makes sure of.
                IF (y > longitude) <> (last_y > longitude) THEN
                    IF latitude < (last_x - x) * (longitude - y) / (last_y - y) + x THEN inside := NOT inside; END IF;
                END IF;
                last_x := x;
                last_y := y;
            END LOOP;
            RETURN inside;
        END $$;

        CREATE OR REPLACE FUNCTION relata.in_polygon(
            latitude double precision, longitude double precision, corners jsonb
        ) RETURNS boolean
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT relata.in_polygon(latitude, longitude, corners::text) $$;
        """#

    /// Keys that the database assigns. One that is given moves the sequence on, so that it is never assigned later.
    static let keys = #"""
        CREATE OR REPLACE FUNCTION relata.key(owner text, name text, given bigint) RETURNS bigint
        LANGUAGE plpgsql AS $$
        DECLARE
            sequence regclass := pg_get_serial_sequence(owner, name)::regclass;
        BEGIN
            IF given IS NULL THEN
                RETURN nextval(sequence);
            END IF;
            IF given > coalesce(pg_sequence_last_value(sequence), 0) THEN
                -- One after the other: the sequence must never go back.
                PERFORM pg_advisory_xact_lock(7885075893412 + sequence::oid::bigint);
                IF given > coalesce(pg_sequence_last_value(sequence), 0) THEN
                    PERFORM setval(sequence, given);
                END IF;
            END IF;
            RETURN given;
        END $$;
        """#
}
