select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t2.g0 as "status" from (select t1."status" as g0 from "public"."article" t1 group by 1 order by 1 limit 100) t2) r
-- []
