select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t2.g0 as "topic", (select row_to_json(x.*) from (select t2.f0 as "score") x) as "sum" from (select t1."topic" as g0, sum(t1."score") as f0 from "public"."article" t1 group by 1 order by 2 desc, 1 limit 100) t2) r
-- []
