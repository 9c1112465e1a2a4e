select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."article" t1 where (t1."published" > $1::timestamptz) order by t1."id" limit 100) r
-- [{"runtimeValue":{"dynamic":"now","offset":0,"months":0}}]
