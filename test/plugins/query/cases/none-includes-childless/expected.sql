select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."page" t1 where (not exists (select 1 from "public"."page_text" t2 where t2."page" = t1."id" and t2."language" = $1::text)) order by t1."position", t1."id" limit 100) r
-- ["en"]
