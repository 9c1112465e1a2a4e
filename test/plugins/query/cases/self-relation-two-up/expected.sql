select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."page" t1 where (exists (select 1 from "public"."page" t2 where t2."id" = t1."parent" and exists (select 1 from "public"."page" t3 where t3."id" = t2."parent" and t3."slug" = $1::text))) order by t1."position", t1."id" limit 100) r
-- ["home"]
