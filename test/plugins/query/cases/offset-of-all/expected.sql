select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."book" t1 order by t1."id" offset $1::int8) r
-- [3]
