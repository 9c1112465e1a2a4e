select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data, json_build_object('total_count', (select count(*) from "public"."book" t2), 'filter_count', (select count(*) from "public"."book" t3))::text as meta from (select t1."id" as "id" from "public"."book" t1 order by t1."id" limit 1 offset $1::int8) r
-- [1]
