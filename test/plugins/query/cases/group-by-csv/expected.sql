select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t2.g0 as "topic", t2.g1 as "status" from (select t1."topic" as g0, t1."status" as g1 from "public"."article" t1 group by 1, 2 order by 1, 2 limit 100) t2) r
-- []
