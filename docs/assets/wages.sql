-- Answered in one week, to three analysts.
SELECT AVG(wage_per_hour) FROM people WHERE age >= 70;
SELECT sex, COUNT(*), AVG(wage_per_hour) FROM people WHERE age >= 70 GROUP BY sex;
SELECT SUM(wage_per_hour) FROM people WHERE age >= 70 AND NOT (sex = 'Male' AND age > 77);
SELECT MAX(wage_per_hour) FROM people WHERE age BETWEEN 63 AND 64 AND sex = 'Female';
SELECT AVG(wage_per_hour) FROM people WHERE age BETWEEN 63 AND 64 AND sex = 'Female';
