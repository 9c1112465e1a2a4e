select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id", t1."page" as "page", t1."place" as "place", t1."kind" as "kind", t1."item" as "item" from "public"."page_block" t1 order by t1."id" limit 2) r
-- []
