select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t2.g0 as "topic", t2.f0 as "count" from (select (case when t1."status" = $1::text then t1."topic" end) as g0, count(*) as f0 from "public"."article" t1 group by 1 order by 1 limit 100) t2) r
-- ["live"]
