select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t2.g0 as "role", t2.f0 as "count", (select row_to_json(x.*) from (select t2.f1 as "score") x) as "max" from (select (t1."film_no"::text || ',' || t1."actor_no"::text) as g0, count(*) as f0, max(t1."score") as f1 from "public"."review" t1 group by 1 order by 3 desc, 1 limit 100) t2) r
-- []
