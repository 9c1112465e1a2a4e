select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t2.g0 as "price (EUR)", t2.g1 as "a:b", (select row_to_json(x.*) from (select t2.f0 as "_under") x) as "sum" from (select t1."price (EUR)" as g0, t1."a:b" as g1, sum(t1."_under") as f0 from "public"."awkward" t1 group by 1, 2 order by 1, 2 limit 100) t2) r
-- []
