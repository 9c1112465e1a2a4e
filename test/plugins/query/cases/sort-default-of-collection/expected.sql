select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."slug" as "slug", t1."position" as "position" from "public"."page" t1 order by t1."position", t1."id" limit 100) r
-- []
