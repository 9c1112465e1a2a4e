select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."page" t1 order by (select t2."title" from "public"."page_text" t2 where t2."page" = t1."id" order by 1 desc limit 1) desc, t1."id" limit 100) r
-- []
