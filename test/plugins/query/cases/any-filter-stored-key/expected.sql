select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."page_block" t1 where (t1."item" = $1::text) order by t1."id" limit 100) r
-- ["99"]
