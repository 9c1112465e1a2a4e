select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."page" t1 where (exists (select 1 from "public"."note" t2 where t2."page" = t1."id" and t2."body" = $1::text)) order by t1."position", t1."id" limit 100) r
-- ["third"]
