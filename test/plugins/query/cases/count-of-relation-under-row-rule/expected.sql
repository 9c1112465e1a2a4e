select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t2."id" as "id", (select count(*) from "public"."remark" t3 where t3."article" = t2."id" and (t3."internal" = $1::boolean)) as "remarks_count" from (select t1.*, t1."id" as "~0" from "public"."article" t1 order by t1."id" limit 100) t2 order by t2."~0") r
-- [false]
