select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t2.g0 as "author", (select row_to_json(x.*) from (select t2.f0 as "price") x) as "count" from (select t1."author" as g0, count(t1."price") as f0 from "public"."book" t1 group by 1 order by 1 limit 100) t2) r
-- []
