select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."thing" t1 where (lower(t1."name"::text) <> lower($1::text)) order by t1."id" limit 100) r
-- ["Zoë"]
