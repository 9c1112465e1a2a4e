select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."article" t1 where (exists (select 1 from "public"."remark" t2 where t2."article" = t1."id" and t2."internal" = $1::boolean and t2."body" = $2::text)) order by t1."id" limit 100) r
-- [false,"bad"]
