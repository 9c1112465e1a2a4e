select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t2.g0 as "id", t2.f0 as "count" from (select t1."id" as g0, count(*) as f0 from "public"."article" t1 group by 1 order by 1 limit 2) t2) r
-- []
