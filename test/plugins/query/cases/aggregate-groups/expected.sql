select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t2.g0 as "owner", t2.f0 as "count" from (select t1."owner" as g0, count(*) as f0 from "public"."article" t1 group by 1 order by 1 limit 100) t2) r
-- []
