select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."thing" t1 where (case when isfinite(t1."moment") then extract(year from t1."moment" at time zone 'UTC')::int end < $1::int8) order by t1."id" limit 100) r
-- ["2024"]
