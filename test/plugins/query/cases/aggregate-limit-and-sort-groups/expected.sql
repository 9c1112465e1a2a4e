select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t2.g0 as "topic", t2.f0 as "count", (select row_to_json(x.*) from (select t2.f1 as "score") x) as "sum" from (select t1."topic" as g0, count(*) as f0, sum(t1."score") as f1 from "public"."article" t1 group by 1 order by 2 desc, 1 limit 2) t2) r
-- []
