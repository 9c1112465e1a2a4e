select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id", t1."kind" as "kind" from "public"."page_block" t1 order by t1."kind", t1."id" limit 3) r
-- []
