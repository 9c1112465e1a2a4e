select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."page_block" t1 left join "public"."hero" t2 on t2."id" = case when t1."kind" = 'hero' and t1."item"::text ~ '^-?[0-9]{1,18}$' then t1."item"::text::int8 end order by t2."title", t1."id" limit 100) r
-- []
