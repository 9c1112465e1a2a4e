select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."thing" t1 where (t1."address" >= $1::inet) order by t1."id" limit 100) r
-- ["10.0.0.1"]
