select (select row_to_json(r.*)::text from (select t1."id" as "id", t1."title" as "title" from "public"."config" t1 order by t1."id" limit 1) r) as data, json_build_object('total_count', (select count(*) from "public"."config" t2), 'filter_count', (select count(*) from "public"."config" t3))::text as meta
-- []
