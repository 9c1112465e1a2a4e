select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."page" t1 order by (select (select t3."place" from "public"."line" t3 where t3."section" = t2."id" order by 1 limit 1) from "public"."section" t2 where t2."page" = t1."id" order by 1 limit 1), t1."id" limit 100) r
-- []
