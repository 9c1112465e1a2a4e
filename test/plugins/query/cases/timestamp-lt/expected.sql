select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."thing" t1 where (t1."moment" < $1::timestamptz) order by t1."id" limit 100) r
-- ["2024-12-30T22:30:00.1234Z"]
