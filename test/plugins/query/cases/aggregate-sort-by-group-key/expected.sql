select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t2.g0 as "published_year", t2.f0 as "count" from (select case when isfinite(t1."published") then extract(year from t1."published" at time zone 'UTC')::int end as g0, count(*) as f0 from "public"."article" t1 group by 1 order by 1 desc limit 100) t2) r
-- []
