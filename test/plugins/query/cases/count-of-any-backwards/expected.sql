select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t2."id" as "id", (select count(*) from "public"."page_block" t3 where t3."kind" = 'hero' and t3."item"::text = t2."id"::text) as "placed_count" from (select t1.*, t1."id" as "~0" from "public"."hero" t1 order by t1."id" limit 100) t2 order by t2."~0") r
-- []
