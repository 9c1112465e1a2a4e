select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data, json_build_object('total_count', (select count(*) from "public"."book" t2), 'filter_count', (select count(*) from "public"."book" t3 where (t3."ok" = $2::boolean)))::text as meta from (select t1."id" as "id" from "public"."book" t1 where (t1."ok" = $1::boolean) order by t1."id" limit 1) r
-- [true,true]
