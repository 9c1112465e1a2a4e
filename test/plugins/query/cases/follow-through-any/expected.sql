select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."hero" t1 where (exists (select 1 from "public"."page_block" t2 where t2."kind" = 'hero' and t2."item"::text = t1."id"::text and t2."page" = $1::int8)) order by t1."id" limit 100) r
-- ["1"]
